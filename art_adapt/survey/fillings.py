"""Finds the statements that add to an object after it is made: ``tools.register(f)``."""

from __future__ import annotations

import ast
import re
from typing import TypeGuard

from art_adapt.survey.command_line import reads_arguments
from art_adapt.survey.effects import asks_a_person
from art_adapt.survey.nodes import dotted
from art_adapt.survey.syntax import Syntax

# Methods that only tell people something.
SHOWS = re.compile(
    r"(welcome|greet|print|show|display|log|info|debug|warn|echo|render)"
)
# What a person or a command line gives is no part of an object.
PERSONAL = ("input", "args")


def fillings(
    place: Syntax, name: str, used: ast.Name, made: ast.stmt
) -> list[ast.stmt] | None:
    """The statements that add to an object after it is made: ``tools.register(f)``.

    What comes after the object is used does not count. None where they cannot be taken
    over, since they happen only sometimes.
    """
    owner = place.owner(made)
    if owner != place.owner(used) and any(
        _changes(node, name) for node in place.owned_by(place.owner(used))
    ):
        return None
    found: dict[ast.stmt, None] = {}
    for node in place.owned_by(owner):
        if not _changes(node, name):
            continue
        if owner == place.owner(used) and node.lineno >= used.lineno:
            continue
        statement = next(
            outer
            for outer in (node, *place.ancestors(node))
            if place.parents.get(outer) is place.parents[made]
            or isinstance(outer, ast.Module)
        )
        if isinstance(statement, ast.If) and _is_a_persons(place, statement.test):
            continue  # --style: without it, what is made stays as it is
        is_plain = isinstance(statement, ast.Expr | ast.Assign) or (
            isinstance(statement, ast.For)
            and all(isinstance(each, ast.Expr) for each in statement.body)
        )
        if not isinstance(statement, ast.stmt) or not is_plain:
            return None
        found[statement] = None
    return list(found)


def _is_a_persons(place: Syntax, test: ast.expr) -> bool:
    """Whether a condition depends on the command line, or on what somebody types."""
    names = [node for node in ast.walk(test) if isinstance(node, ast.Name)]
    values = [test, *(value for name in names for value in place.values_of(name))]
    return any(name.id in PERSONAL for name in names) or any(
        reads_arguments(place, node) or asks_a_person(place, value)
        for value in values
        for node in ast.walk(value)
    )


def _changes(
    node: ast.AST, name: str
) -> TypeGuard[ast.Expr | ast.Subscript | ast.Attribute]:
    """Whether a statement calls a method of an object, or sets an entry or attribute."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func
        if not isinstance(function, ast.Attribute) or SHOWS.match(function.attr):
            return False
        return f"{dotted(function.value)}.".startswith(f"{name}.")
    return (
        isinstance(node, ast.Subscript | ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and f"{dotted(node.value)}.".startswith(f"{name}.")
    )
