"""Finds databases that a module opens when it is imported, and every episode uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import dotted, text_of
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.survey.side_effects.harm import Effect, Harm

OPENS = frozenset(
    {"sqlite3.connect", "duckdb.connect", "shelve.open", "dbm.open", "tinydb.TinyDB"}
)
OTHERWISE = "otherwise all write through one connection"


def used_connections(syntax: Syntax) -> Iterator[tuple[str, Effect]]:
    """Find where functions use a connection of their module, or a cursor of one.

    Rollouts run side by side in threads of their own, and a connection of sqlite3 serves
    only the thread that opened it.
    """
    opened = {
        name: call
        for name in syntax.assignments
        if "." not in name and (call := _opened(syntax, name)) is not None
    }
    said: set[tuple[str, str]] = set()
    for node in syntax.nodes if opened else ():
        owner = syntax.owner(node)
        if (
            owner == MODULE_LEVEL
            or not isinstance(node, ast.Name)
            or node.id not in opened
            or (node.id, owner) in said
            or not isinstance(node.ctx, ast.Load)
            or syntax.is_local(node.id, owner)
        ):
            continue
        said.add((node.id, owner))
        what = f"the module's database connection {node.id}"
        place = syntax.place(node)
        # Each process has its own of those, but all open the same file.
        in_memory = _is_in_memory(opened[node.id])
        otherwise = OTHERWISE if in_memory else ""
        yield (
            owner,
            Effect(
                place,
                Harm.SHARED,
                what,
                in_files=not in_memory,
                otherwise=otherwise,
            ),
        )


def _opened(syntax: Syntax, name: str, depth: int = 0) -> ast.Call | None:
    """Return the call by which a module opens the database that a name, or its cursor, is of."""
    for value in syntax.values_at_top(name) if depth < 3 else ():
        if not isinstance(value, ast.Call):
            continue
        if syntax.qualified(value.func) in OPENS:
            return value
        if isinstance(value.func, ast.Attribute) and value.func.attr == "cursor":
            holder = dotted(value.func.value) or ""
            if (call := _opened(syntax, holder, depth + 1)) is not None:
                return call
    return None


def _is_in_memory(opening: ast.Call) -> bool:
    given = [
        *opening.args[:1],
        *(k.value for k in opening.keywords if k.arg == "database"),
    ]
    return not given or text_of(given[0]) == ":memory:"
