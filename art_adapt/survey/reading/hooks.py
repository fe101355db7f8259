"""Tells which hooks a file imports already, and under which names."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt import hooks_file
from art_adapt.survey.reading.syntax import Syntax

RECORDING_MODULE = hooks_file.MODULE
HOOKS = ("recorded", "final_answer", "reward", "carried")


def hook_imports(tree: ast.Module) -> Iterator[ast.ImportFrom]:
    """Find the imports from ``art_recording``, including those inside a ``try``."""
    for statement in tree.body:
        inside = statement.body if isinstance(statement, ast.Try) else [statement]
        for node in inside:
            if (
                isinstance(node, ast.ImportFrom)
                and (node.module or "").split(".")[-1] == RECORDING_MODULE
                and all(name.name in HOOKS for name in node.names)
            ):
                yield node


def imported_hooks(syntax: Syntax) -> dict[str, str]:
    """The file's hooks by their local names."""
    return {
        name.asname or name.name: name.name
        for node in hook_imports(syntax.source.tree)
        for name in node.names
    }


def recording_level(syntax: Syntax) -> int | None:
    """The number of dots in the file's import of the hooks; None without such an import."""
    return next((node.level for node in hook_imports(syntax.source.tree)), None)


def local_names(hooks: dict[str, str], hook: str) -> frozenset[str]:
    return frozenset(local for local, name in hooks.items() if name == hook)


def unhooked(value: ast.expr, hooks: frozenset[str]) -> ast.expr:
    """The argument of a call of one of ``hooks``; other expressions as they are."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.args:
        return value.args[0] if value.func.id in hooks else value
    return value
