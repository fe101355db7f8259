"""Define what a rule is, and what it finds.

A rule is one module of this package:

- its docstring is its documentation: a line with the mistake and its consequence, then
  what happens, why it harms training, and the evidence
- ``RULE`` names it, and ``check(code)`` yields what it finds
- ``BAD`` and ``GOOD`` are its cases; in a bad case, each line that must be found ends in
  ``# <-``
- ``FIXED`` is its first bad case after the fix, if there is one
- ``READS_DEPENDENCIES = True`` also gives it files that declare dependencies, which have
  no syntax tree
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from art_adapt.rules.code import Code
    from art_adapt.rules.target import Target


class Severity(IntEnum):
    """What a mistake costs, worst first, which is the order of the report."""

    GARBAGE = 0
    WASTE = 1
    UNTIDY = 2

    @property
    def says(self) -> str:
        return ("trains garbage", "ends or wastes a run", "untidy")[self]


@dataclass(frozen=True)
class Rule:
    """The names and the severity of a rule, and the versions of ART that it holds for.

    Untidy rules are reported only if they are selected. Without a known version of ART, a
    rule holds.
    """

    code: str
    name: str
    severity: Severity
    since: str | None = None  # the first ART that it holds for
    until: str | None = None  # the first ART that it holds for no longer

    @property
    def holds(self) -> str:
        """Say for which versions of ART it holds; "" for all."""
        since = f" Holds for ART {self.since} and newer." if self.since else ""
        return since + (f" Holds for ART before {self.until}." if self.until else "")

    def holds_for(self, target: Target) -> bool:
        """True unless the code is known to run with an ART that does not do this."""
        return not (
            (self.since is not None and target.is_before(self.since))
            or (self.until is not None and target.is_from(self.until))
        )


@dataclass(frozen=True)
class TextEdit:
    """Replace the source from ``start`` to ``end`` with ``text``.

    Positions are those of ``ast``: lines from 1, columns in UTF-8 bytes from 0.
    """

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


@dataclass(frozen=True)
class Fix:
    """Edits that must be applied together, and a title that says what they do.

    One that is not ``safe`` may change more than the mistake: somebody has to look at it.
    """

    title: str
    edits: tuple[TextEdit, ...]
    safe: bool = True


@dataclass(frozen=True)
class Found:
    """One place where a rule is broken, and a message that says the consequence."""

    message: str
    line: int
    column: int  # UTF-8 bytes from 0
    end_line: int
    end_column: int
    fix: Fix | None = None
    statement: tuple[int, int] = (0, 0)  # the first and last line of its statement


@dataclass(frozen=True)
class RuleModule:
    """A rule that has been loaded from its module."""

    rule: Rule
    summary: str
    documentation: str  # the docstring below the summary
    check: Callable[[Code], Iterator[Found]]
    bad: tuple[str, ...]
    good: tuple[str, ...]
    fixed: str | None
    reads_dependencies: bool = False

    @staticmethod
    def of(module: ModuleType) -> RuleModule:
        summary, _, rest = (module.__doc__ or "").partition("\n")
        return RuleModule(
            module.RULE,
            summary.strip(),
            rest.strip(),
            module.check,
            module.BAD,
            module.GOOD,
            getattr(module, "FIXED", None),
            getattr(module, "READS_DEPENDENCIES", False),
        )


def found(
    node: ast.expr | ast.stmt | ast.excepthandler | ast.keyword,
    message: str,
    fix: Fix | None = None,
) -> Found:
    """Report ``message`` at ``node``, or at the first line of a compound statement."""
    end_line, end_column = end_of(node)
    if isinstance(getattr(node, "body", None), list):
        end_line, end_column = node.lineno, node.col_offset + 1
    return Found(message, node.lineno, node.col_offset, end_line, end_column, fix)


def replace(node: ast.expr, text: str) -> TextEdit:
    return TextEdit((node.lineno, node.col_offset), end_of(node), text)


def insert_before(node: ast.expr | ast.stmt, text: str) -> TextEdit:
    here = (node.lineno, node.col_offset)
    return TextEdit(here, here, text)


def insert_after(node: ast.expr | ast.stmt, text: str) -> TextEdit:
    return TextEdit(end_of(node), end_of(node), text)


def end_of(
    node: ast.expr | ast.stmt | ast.excepthandler | ast.keyword,
) -> tuple[int, int]:
    """Return the line and the column at which a node ends."""
    return node.end_lineno or node.lineno, node.end_col_offset or 0


def await_it(code: Code, call: ast.Call) -> Fix | None:
    """Return the fix that awaits a call; None where the function around it cannot."""
    if not code.is_async(call):
        return None
    return Fix("await it", (insert_before(call, "await "),))


# A training loop for cases, which trains on the rollout defined above it.
LOOP = """

async def train(model, backend, scenarios):
    groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(model, s) for _ in range(4)) for s in scenarios
    )
    await backend.train(model, groups)
"""
