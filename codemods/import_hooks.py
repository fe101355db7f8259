"""Imports the hooks into a file, below its own imports, and takes that import out
again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from art_adapt.survey.hooks import RECORDING_MODULE


@dataclass(frozen=True)
class HookImport:
    """``from <dots>art_recording import ...``: ``hooks`` are the names it imports, by
    local name.

    ``also_plain``: the file lies in a package but imports nothing relatively, so it may
    be run by its path as well; a relative import alone would break that.
    ``neighbours``: top-level names that lie beside the file, whose imports ours may
    stand directly under.
    """

    dots: str
    hooks: Mapping[str, str]
    also_plain: bool = False
    neighbours: frozenset[str] = frozenset()

    def lines(self, dots: str) -> list[str]:
        """The import as isort has it: names together, each ``as`` on a line of its
        own.
        """
        own = sorted(hook for local, hook in self.hooks.items() if local == hook)
        renamed = sorted(
            f"{hook} as {local}" for local, hook in self.hooks.items() if local != hook
        )
        start = f"from {dots}{RECORDING_MODULE} import "
        return [start + names for names in ([", ".join(own)] if own else []) + renamed]

    def statements(self, module: cst.Module) -> list[cst.SimpleStatementLine | cst.Try]:
        """The statements to put into ``module``, with its indentation and line
        endings.
        """
        pieces = self.lines(self.dots)
        if self.also_plain:
            indent, newline = module.default_indent, module.default_newline
            plain = "except ImportError:  # run as a script"
            branches = [
                "try:",
                *(indent + line for line in pieces),
                plain,
                *(indent + line for line in self.lines("")),
                "",
            ]
            pieces = [newline.join(branches)]
        parsed = [
            cst.parse_statement(piece, config=module.config_for_parsing)
            for piece in pieces
        ]
        return [
            statement
            for statement in parsed
            if isinstance(statement, cst.SimpleStatementLine | cst.Try)
        ]


def with_hook_import(module: cst.Module, wanted: HookImport) -> cst.Module:
    """``module`` with the import, or with the import that it has extended by the hooks
    that it lacks.
    """
    if not wanted.hooks:
        return module
    body = list(module.body)
    lines = wanted.statements(module)
    present = [at for at, statement in enumerate(body) if _is_hook_import(statement)]
    if present:
        lines[0] = lines[0].with_changes(leading_lines=_leading_lines(body[present[0]]))
        kept = [statement for at, statement in enumerate(body) if at not in present]
        return module.with_changes(
            body=[*kept[: present[0]], *lines, *kept[present[0] :]]
        )
    at = _place(body)
    neighbours = _neighbours_before(body, at, wanted)
    if at == 0:
        # The import stands first: it takes over what stood above the first statement,
        # which removal hands back.
        first = body[0]
        blank_lines = 2 if isinstance(first, cst.FunctionDef | cst.ClassDef) else 1
        lines[0] = lines[0].with_changes(leading_lines=_leading_lines(first))
        body[0] = first.with_changes(
            leading_lines=[cst.EmptyLine(indent=False)] * blank_lines
        )
    elif neighbours:
        at = next((n for n in neighbours if _sorts_after(body[n], wanted)), at)
        if (
            at == neighbours[0]
        ):  # first of its block: what stands above the block stands above it now
            lines[0] = lines[0].with_changes(leading_lines=_leading_lines(body[at]))
            body[at] = body[at].with_changes(leading_lines=[])
    else:
        lines[0] = lines[0].with_changes(leading_lines=[cst.EmptyLine(indent=False)])
    return module.with_changes(body=[*body[:at], *lines, *body[at:]])


def without_hook_import(module: cst.Module) -> cst.Module:
    """``module`` without its import of the hooks. Comments that somebody put above it
    stay.
    """
    body = list(module.body)
    for at in reversed(
        [at for at, statement in enumerate(body) if _is_hook_import(statement)]
    ):
        above = _leading_lines(body.pop(at))
        if at >= len(body):
            continue
        below = _leading_lines(body[at])
        if at == 0:
            body[0] = body[0].with_changes(leading_lines=above)
        elif not below and _is_import(body[at]):
            body[at] = body[at].with_changes(leading_lines=above)
        elif any(line.comment for line in above):
            body[at] = body[at].with_changes(leading_lines=[*above, *below])
    return module.with_changes(body=body)


def _leading_lines(
    statement: cst.BaseStatement | cst.SimpleStatementLine,
) -> Sequence[cst.EmptyLine]:
    return getattr(statement, "leading_lines", ())


def _is_hook_import(statement: cst.CSTNode) -> bool:
    if isinstance(statement, cst.Try):
        return all(_is_hook_import(inner) for inner in statement.body.body)
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return False
    small = statement.body[0]
    module = small.module if isinstance(small, cst.ImportFrom) else None
    if isinstance(module, cst.Attribute):
        module = module.attr
    return isinstance(module, cst.Name) and module.value == RECORDING_MODULE


def _place(body: Sequence[cst.CSTNode]) -> int:
    """Below the imports that the file begins with, whatever stands between them; below
    the docstring at least.
    """
    place = 0
    for at, statement in enumerate(body):
        if isinstance(statement, cst.SimpleStatementLine):
            smalls = statement.body
            if all(
                isinstance(small, cst.Import | cst.ImportFrom) for small in smalls
            ) or (at == 0 and _is_docstring(smalls)):
                place = at + 1
                continue
            if any(
                isinstance(small, cst.ImportFrom) and _is_future(small)
                for small in smalls
            ):
                place = at + 1
        elif not isinstance(statement, cst.Try | cst.If):
            break
    return place


def _is_docstring(smalls: Sequence[cst.CSTNode]) -> bool:
    return isinstance(smalls[0], cst.Expr) and isinstance(
        smalls[0].value, cst.SimpleString | cst.ConcatenatedString
    )


def _is_future(small: cst.ImportFrom) -> bool:
    return isinstance(small.module, cst.Name) and small.module.value == "__future__"


def _neighbours_before(
    body: Sequence[cst.SimpleStatementLine | cst.BaseCompoundStatement],
    end: int,
    wanted: HookImport,
) -> list[int]:
    """Where the imports stand that ours belongs among: the local ones, directly above
    ``end``.
    """
    found: list[int] = []
    while end and not wanted.also_plain and _is_neighbour(body[end - 1], wanted):
        end -= 1
        found.insert(0, end)
        if _leading_lines(body[end]):
            break
    return found


def _is_neighbour(statement: cst.CSTNode, wanted: HookImport) -> bool:
    small = (
        statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    )
    if isinstance(small, cst.ImportFrom):
        if small.relative or wanted.dots:
            return bool(small.relative) and bool(wanted.dots)
        return small.module is not None and _top(small.module) in wanted.neighbours
    if isinstance(small, cst.Import):
        return not wanted.dots and _top(small.names[0].name) in wanted.neighbours
    return False


def _sorts_after(statement: cst.CSTNode, wanted: HookImport) -> bool:
    """Whether isort has ``statement`` below ours: ``import`` comes before ``from``,
    more dots before fewer.
    """
    small = (
        statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    )
    if not isinstance(small, cst.ImportFrom):
        return False
    name = "" if small.module is None else cst.Module([]).code_for_node(small.module)
    return (-len(small.relative), name.lower()) > (-len(wanted.dots), RECORDING_MODULE)


def _is_import(statement: cst.CSTNode) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and isinstance(
        statement.body[0], cst.Import | cst.ImportFrom
    )


def _top(name: cst.BaseExpression) -> str:
    while isinstance(name, cst.Attribute):
        name = name.value
    return name.value if isinstance(name, cst.Name) else ""
