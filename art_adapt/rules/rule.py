"""What a rule is, and what it finds.

A rule is one module of this package: its docstring is its documentation (a summary line,
then what happens, why it harms training, and where that is written down), ``RULE`` names
it, ``check(code)`` finds it, and ``BAD`` and ``GOOD`` are its cases. In a bad case each
line that must be found ends in ``# <-``; ``FIXED`` is what its first bad case becomes, if
there is a fix. ``READS_DEPENDENCIES = True``: it also takes files that name packages to
install, of which there is no tree.
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


class Severity(IntEnum):
    """What it costs, worst first: they are shown in this order."""

    GARBAGE = 0
    WASTE = 1
    UNTIDY = 2

    @property
    def says(self) -> str:
        return ("trains garbage", "ends or wastes a run", "untidy")[self]


@dataclass(frozen=True)
class Rule:
    """A rule's names. Untidy rules are checked only when they are selected."""

    code: str
    name: str
    severity: Severity


@dataclass(frozen=True)
class TextEdit:
    """Put ``text`` in place of what stands from ``start`` to ``end``: (line from 1,
    column in UTF-8 bytes from 0), as ``ast`` counts.
    """

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


@dataclass(frozen=True)
class Fix:
    """Edits that belong together, and what they do."""

    title: str
    edits: tuple[TextEdit, ...]


@dataclass(frozen=True)
class Found:
    """One place where a rule is broken; ``message`` says the consequence."""

    message: str
    line: int
    column: int  # UTF-8 bytes from 0
    end_line: int
    end_column: int
    fix: Fix | None = None
    statement: tuple[int, int] = (0, 0)  # its first and last line


@dataclass(frozen=True)
class RuleModule:
    """A rule as it was loaded."""

    rule: Rule
    summary: str
    documentation: str  # below the summary
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
    """``message`` at ``node``; for a statement with a body, at its first line."""
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    if isinstance(getattr(node, "body", None), list):
        end_line, end_column = node.lineno, node.col_offset + 1
    return Found(message, node.lineno, node.col_offset, end_line, end_column, fix)


def replace(node: ast.expr, text: str) -> TextEdit:
    return TextEdit(
        (node.lineno, node.col_offset),
        (node.end_lineno or node.lineno, node.end_col_offset or 0),
        text,
    )


def insert_before(node: ast.expr | ast.stmt, text: str) -> TextEdit:
    here = (node.lineno, node.col_offset)
    return TextEdit(here, here, text)


# For cases: a loop that trains on what is above it.
LOOP = """

async def train(model, backend, scenarios):
    groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(model, s) for _ in range(4)) for s in scenarios
    )
    await backend.train(model, groups)
"""
