"""Import the hooks below a file's own imports, and remove that import again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

# mypy knows a file by one name, under which the other import fails.
UNTYPED = {
    "": "  # type: ignore[import-not-found,no-redef]",
    ".": "  # type: ignore[import-not-found]",
}


@dataclass(frozen=True)
class HookImport:
    """The import ``from <prefix><module> import <hooks>``.

    ``prefix``: dots, a package with a dot behind it, or nothing. ``hooks`` are the
    imported names by local name. ``otherwise``: the prefix that is tried where the first
    one fails; None where that cannot be. ``neighbours``: the top-level names of the
    project's own modules; our import may stand directly below theirs.
    """

    module: str
    prefix: str
    hooks: Mapping[str, str]
    otherwise: str | None = None
    neighbours: frozenset[str] = frozenset()

    def lines(self, prefix: str) -> list[str]:
        """Write the import as isort does: plain names together, a line for each ``as``."""
        own = sorted(hook for local, hook in self.hooks.items() if local == hook)
        renamed = sorted(
            f"{hook} as {local}" for local, hook in self.hooks.items() if local != hook
        )
        start = f"from {prefix}{self.module} import "
        return [start + names for names in ([", ".join(own)] if own else []) + renamed]

    def _fallback(self, prefix: str) -> list[str]:
        return [line + UNTYPED[prefix] for line in self.lines(prefix)]

    def statements(self, module: cst.Module) -> list[cst.SimpleStatementLine | cst.Try]:
        """Parse the import with the indentation and line endings of ``module``."""
        pieces = self.lines(self.prefix)
        if self.otherwise is not None:
            indent, newline = module.default_indent, module.default_newline
            how = "imported from a package" if self.otherwise else "run as a script"
            branches = [
                "try:",
                *(indent + line for line in pieces),
                f"except ImportError:  # {how}",
                *(indent + line for line in self._fallback(self.otherwise)),
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
    """Add the import to ``module``, or extend the one that it has."""
    if not wanted.hooks:
        return module
    body = list(module.body)
    lines = wanted.statements(module)
    present = _hook_imports(body, wanted.module, wanted.hooks)
    if present:
        lines[0] = lines[0].with_changes(leading_lines=_leading_lines(body[present[0]]))
        kept = [statement for at, statement in enumerate(body) if at not in present]
        return module.with_changes(
            body=[*kept[: present[0]], *lines, *kept[present[0] :]]
        )
    at = _place(body)
    neighbours = _neighbours_before(body, at, wanted)
    if at == 0:
        # Ours becomes the first statement, and takes over the comments above the old
        # first one; removal gives them back.
        first = body[0]
        blank_lines = 2 if isinstance(first, cst.FunctionDef | cst.ClassDef) else 1
        lines[0] = lines[0].with_changes(leading_lines=_leading_lines(first))
        body[0] = first.with_changes(
            leading_lines=[cst.EmptyLine(indent=False)] * blank_lines
        )
    elif neighbours:
        at = next((n for n in neighbours if _sorts_after(body[n], wanted)), at)
        if at == neighbours[0]:
            # Ours becomes the first of its block, and takes over what stands above it.
            lines[0] = lines[0].with_changes(leading_lines=_leading_lines(body[at]))
            body[at] = body[at].with_changes(leading_lines=[])
    else:
        lines[0] = lines[0].with_changes(leading_lines=[cst.EmptyLine(indent=False)])
    return module.with_changes(body=[*body[:at], *lines, *body[at:]])


def without_hook_import(
    module: cst.Module, name: str, hooks: Collection[str]
) -> cst.Module:
    """Remove every import of ``hooks`` from the module ``name``; comments above it stay."""
    body = list(module.body)
    for at in reversed(_hook_imports(body, name, hooks)):
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


def _hook_imports(
    body: Sequence[cst.CSTNode], name: str, hooks: Collection[str]
) -> list[int]:
    """Return the places of the imports of nothing but ``hooks``, by local name."""
    return [at for at, node in enumerate(body) if _is_hook_import(node, name, hooks)]


def _local_name(alias: cst.ImportAlias) -> str:
    return alias.evaluated_alias or alias.evaluated_name


def _is_hook_import(statement: cst.CSTNode, name: str, hooks: Collection[str]) -> bool:
    if isinstance(statement, cst.Try):
        return all(_is_hook_import(inner, name, hooks) for inner in statement.body.body)
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return False
    small = statement.body[0]
    module = small.module if isinstance(small, cst.ImportFrom) else None
    if isinstance(module, cst.Attribute):
        module = module.attr
    return (
        isinstance(module, cst.Name)
        and module.value == name
        and isinstance(small, cst.ImportFrom)
        and not isinstance(small.names, cst.ImportStar)
        and all(_local_name(alias) in hooks for alias in small.names)
    )


def _place(body: Sequence[cst.CSTNode]) -> int:
    """Return the place below the imports at the top, or at least below the docstring."""
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
    """Return the places of the local imports directly above ``end``: ours goes there."""
    found: list[int] = []
    while end and wanted.otherwise is None and _is_neighbour(body[end - 1], wanted):
        end -= 1
        found.insert(0, end)
        if _leading_lines(body[end]):
            break
    return found


def _is_neighbour(statement: cst.CSTNode, wanted: HookImport) -> bool:
    small = (
        statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    )
    relative = wanted.prefix.startswith(".")
    if isinstance(small, cst.ImportFrom):
        if small.relative or relative:
            return bool(small.relative) and relative
        return small.module is not None and _top(small.module) in wanted.neighbours
    if isinstance(small, cst.Import):
        return not relative and _top(small.names[0].name) in wanted.neighbours
    return False


def _sorts_after(statement: cst.CSTNode, wanted: HookImport) -> bool:
    """True if isort sorts ``statement`` below ours.

    ``import`` comes before ``from``, and more dots before fewer.
    """
    small = (
        statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    )
    if not isinstance(small, cst.ImportFrom):
        return False
    name = "" if small.module is None else cst.Module([]).code_for_node(small.module)
    module = f"{wanted.prefix}{wanted.module}"
    ours = module.lstrip(".")
    dots = len(module) - len(ours)
    return (-len(small.relative), name.lower()) > (-dots, ours.lower())


def _is_import(statement: cst.CSTNode) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and isinstance(
        statement.body[0], cst.Import | cst.ImportFrom
    )


def _top(name: cst.BaseExpression) -> str:
    while isinstance(name, cst.Attribute):
        name = name.value
    return name.value if isinstance(name, cst.Name) else ""
