"""Finds databases that a module opens when it is imported, and every episode uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import dotted
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.survey.side_effects.harm import Effect, Harm

OPENS = frozenset(
    {"sqlite3.connect", "duckdb.connect", "shelve.open", "dbm.open", "tinydb.TinyDB"}
)


def used_connections(syntax: Syntax) -> Iterator[tuple[str, Effect]]:
    """Find where functions use a connection of their module, or a cursor of one.

    Rollouts run side by side in threads of their own, and a connection of sqlite3 serves
    only the thread that opened it.
    """
    opened = {
        name
        for name in syntax.assignments
        if "." not in name and _is_opened(syntax, name)
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
        yield owner, Effect(syntax.place(node), Harm.SHARED, what, connection=True)


def _is_opened(syntax: Syntax, name: str, depth: int = 0) -> bool:
    return depth < 3 and any(
        isinstance(value, ast.Call)
        and (
            syntax.qualified(value.func) in OPENS
            or (
                isinstance(value.func, ast.Attribute)
                and value.func.attr == "cursor"
                and _is_opened(syntax, dotted(value.func.value) or "", depth + 1)
            )
        )
        for value in syntax.values_at_top(name)
    )
