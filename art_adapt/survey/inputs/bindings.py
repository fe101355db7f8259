"""Finds what gives a name its value where it is read."""

from __future__ import annotations

import ast
import functools

from art_adapt.code.nodes import arguments_of
from art_adapt.code.syntax import Syntax

Assignment = ast.Assign | ast.AnnAssign


def scope_of(place: Syntax, node: ast.Name) -> str:
    """Return the function whose variable, parameter or inner function a name is.

    It is the one around the name, or around that one, as a closure's.
    """
    around = place.owner(node)
    for owner in (around, *place.functions_around(around)):
        if place.is_local(node.id, owner) or f"{owner}.{node.id}" in place.functions:
            return owner
    return around


def is_set_later(place: Syntax, name: str) -> bool:
    """True if a function gives a name of its module a value: ``global client``."""
    return any(name == declared for _, declared in place.declared_global)


def value_of(statement: Assignment) -> ast.expr:
    assert statement.value is not None
    return statement.value


def is_of_a_lambda(place: Syntax, node: ast.Name) -> bool:
    """True if a name is a parameter of a lambda around it."""
    return any(
        isinstance(outer, ast.Lambda)
        and node.id in {argument.arg for argument in arguments_of(outer)}
        for outer in place.ancestors(node)
    )


def assignments_of(place: Syntax, name: str, owner: str) -> list[Assignment | None]:
    """Return the statements that bind ``name``; None for one that does more than assign it."""
    found: list[Assignment | None] = []
    for node in _bindings(place).get((owner, name), ()):
        statement = place.parents[node]
        if (isinstance(statement, ast.AnnAssign) and statement.value is not None) or (
            isinstance(statement, ast.Assign) and len(statement.targets) == 1
        ):
            found.append(statement)
        else:
            found.append(None)
    return found


@functools.lru_cache(maxsize=512)
def _bindings(place: Syntax) -> dict[tuple[str, str], list[ast.Name]]:
    """Return the names that a file binds, by the function that does and the name."""
    found: dict[tuple[str, str], list[ast.Name]] = {}
    for node in place.nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.setdefault((place.owner(node), node.id), []).append(node)
    return found
