"""Tells which hooks a file imports already, and under which names."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from art_adapt import hooks_file
from art_adapt.code.syntax import Syntax

RECORDING_MODULE = hooks_file.MODULE
HOOKS = ("recorded", "final_answer", "reward", "carried")


@dataclass(frozen=True)
class HooksPlace:
    """A folder for the hooks file, and how a file imports it from there.

    ``prefix`` stands before the module's name: dots, a package with a dot behind it, or
    nothing. ``otherwise`` is tried where that fails; None: it cannot.
    """

    folder: Path
    prefix: str
    otherwise: str | None = None


def is_of_hooks(node: ast.ImportFrom) -> bool:
    """True if a statement imports from a module of the hooks' name."""
    return (node.module or "").rpartition(".")[2] == RECORDING_MODULE


def hook_imports(tree: ast.Module) -> Iterator[ast.ImportFrom]:
    """Find the imports from ``art_recording``, including those inside a ``try``."""
    for statement in tree.body:
        inside = statement.body if isinstance(statement, ast.Try) else [statement]
        for node in inside:
            if (
                isinstance(node, ast.ImportFrom)
                and is_of_hooks(node)
                and all(name.name in HOOKS for name in node.names)
            ):
                yield node


@functools.lru_cache(maxsize=512)
def imported_hooks(syntax: Syntax) -> Mapping[str, str]:
    """Return the file's hooks by their local names."""
    return {
        name.asname or name.name: name.name
        for node in hook_imports(syntax.source.tree)
        for name in node.names
    }


def present_hooks_place(syntax: Syntax) -> HooksPlace | None:
    """Return where the file imports its hooks from; None without such an import."""
    path = syntax.source.path
    for node in hook_imports(syntax.source.tree):
        prefix = "." * node.level + (node.module or "").removesuffix(RECORDING_MODULE)
        outer = syntax.parents[node]
        fallback = None
        if isinstance(outer, ast.Try) and outer.handlers:
            inner = outer.handlers[0].body[0]
            fallback = "." * inner.level if isinstance(inner, ast.ImportFrom) else None
        return HooksPlace(_folder(path, prefix), prefix, fallback)
    return None


def _folder(path: Path, prefix: str) -> Path:
    """Return the folder that an import's prefix leads to from a file."""
    level = len(prefix) - len(prefix.lstrip("."))
    names = prefix.strip(".").split(".") if prefix.strip(".") else []
    if level or not names:
        return path.parents[max(level - 1, 0)].joinpath(*names)
    roots = (root for root in path.parents if root.joinpath(*names).is_dir())
    return next(roots, path.parent).joinpath(*names)


def local_names(syntax: Syntax, hook: str) -> frozenset[str]:
    """Return the names by which a file calls a hook."""
    hooks = imported_hooks(syntax)
    return frozenset(local for local, name in hooks.items() if name == hook)


def unhooked(syntax: Syntax, value: ast.expr, hook: str) -> ast.expr:
    """Return the argument of a call of a hook; other expressions as they are."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.args:
        is_hook = imported_hooks(syntax).get(value.func.id) == hook
        return value.args[0] if is_hook else value
    return value
