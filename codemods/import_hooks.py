"""Imports the hooks into a file, below its own imports, and takes that import out again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

RECORDING_MODULE = "art_recording"


@dataclass(frozen=True)
class HookImport:
    """``from <dots>art_recording import ...``: ``hooks`` are the names it imports, by local name.

    ``also_plain``: the file lies in a package but imports nothing relatively, so it may be run by its path as well;
    a relative import alone would break that. ``neighbours``: top-level names that lie beside the file, whose imports
    ours may stand directly under.
    """

    dots: str
    hooks: Mapping[str, str]
    also_plain: bool = False
    neighbours: frozenset[str] = frozenset()

    def statement(self, module: cst.Module) -> cst.SimpleStatementLine | cst.Try:
        names = ", ".join(
            sorted(
                hook if hook == local else f"{hook} as {local}"
                for local, hook in self.hooks.items()
            )
        )
        code = f"from {self.dots}{RECORDING_MODULE} import {names}"
        if self.also_plain:
            plain = f"from {RECORDING_MODULE} import {names}"
            indent, newline = module.default_indent, module.default_newline
            code = newline.join(
                [
                    "try:",
                    indent + code,
                    "except ImportError:  # run as a script",
                    indent + plain,
                    "",
                ]
            )
        statement = cst.parse_statement(code, config=module.config_for_parsing)
        assert isinstance(statement, cst.SimpleStatementLine | cst.Try)
        return statement


def with_hook_import(module: cst.Module, wanted: HookImport) -> cst.Module:
    """``module`` with the import, or with the import that it has extended by the hooks that it lacks."""
    if not wanted.hooks:
        return module
    body = list(module.body)
    line = wanted.statement(module)
    present = next(
        (at for at, statement in enumerate(body) if _is_hook_import(statement)), None
    )
    if present is not None:
        body[present] = line.with_changes(leading_lines=_leading_lines(body[present]))
        return module.with_changes(body=body)
    at = _place(body)
    if at == 0:
        # The import stands first: it takes over what stood above the first statement, which removal hands back.
        first = body[0]
        blank_lines = 2 if isinstance(first, cst.FunctionDef | cst.ClassDef) else 1
        line = line.with_changes(leading_lines=_leading_lines(first))
        body[0] = first.with_changes(
            leading_lines=[cst.EmptyLine(indent=False)] * blank_lines
        )
    elif not _is_neighbour(body[at - 1], wanted):
        line = line.with_changes(leading_lines=[cst.EmptyLine(indent=False)])
    body.insert(at, line)
    return module.with_changes(body=body)


def without_hook_import(module: cst.Module) -> cst.Module:
    """``module`` without its import of the hooks. Comments that somebody put above it stay."""
    body = list(module.body)
    for at in reversed(
        [at for at, statement in enumerate(body) if _is_hook_import(statement)]
    ):
        removed = body.pop(at)
        above = _leading_lines(removed)
        if at < len(body):
            if at == 0:
                body[0] = body[0].with_changes(leading_lines=above)
            elif any(line.comment for line in above):
                body[at] = body[at].with_changes(
                    leading_lines=[*above, *_leading_lines(body[at])]
                )
    return module.with_changes(body=body)


def _leading_lines(
    statement: cst.BaseStatement | cst.SimpleStatementLine,
) -> Sequence[cst.EmptyLine]:
    return getattr(statement, "leading_lines", ())


def _is_hook_import(statement: cst.CSTNode) -> bool:
    if isinstance(statement, cst.Try):
        return len(statement.body.body) == 1 and _is_hook_import(statement.body.body[0])
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return False
    small = statement.body[0]
    module = small.module if isinstance(small, cst.ImportFrom) else None
    if isinstance(module, cst.Attribute):
        module = module.attr
    return isinstance(module, cst.Name) and module.value == RECORDING_MODULE


def _place(body: Sequence[cst.CSTNode]) -> int:
    """Below the imports that the file begins with, whatever stands between them; below the docstring at least."""
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


def _is_neighbour(statement: cst.CSTNode, wanted: HookImport) -> bool:
    """Whether ours belongs to the same block of imports: the local ones."""
    small = (
        statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    )
    if wanted.also_plain:
        return False
    if isinstance(small, cst.ImportFrom):
        if small.relative or wanted.dots:
            return bool(small.relative) and bool(wanted.dots)
        return small.module is not None and _top(small.module) in wanted.neighbours
    if isinstance(small, cst.Import):
        return not wanted.dots and _top(small.names[0].name) in wanted.neighbours
    return False


def _top(name: cst.BaseExpression) -> str:
    while isinstance(name, cst.Attribute):
        name = name.value
    return name.value if isinstance(name, cst.Name) else ""
