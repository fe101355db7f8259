"""Tells which parameters of a function are the system's message, which no person says."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.classes import FunctionKey
from art_adapt.code.dependence import made_from
from art_adapt.code.nodes import (
    FunctionNode,
    argument_of,
    choices,
    entries,
    text_of,
)
from art_adapt.code.project import Project
from art_adapt.code.questions import question
from art_adapt.code.resolution import resolve
from art_adapt.code.syntax import Syntax
from art_adapt.words import INSTRUCT

INSTRUCTIONS = ("instructions", "system")  # of a request, beside its messages


def said_by_system(project: Project, key: FunctionKey) -> frozenset[str]:
    """Return the parameters that system messages alone hold, here or in a called function."""
    place = project.home(key[0])
    said = _said(project, place, place.functions[key[1]].node)
    system = {name for name, is_system in said if is_system}
    return frozenset(system - {name for name, is_system in said if not is_system})


@question
def _said(
    project: Project, place: Syntax, node: FunctionNode
) -> Iterator[tuple[str, bool]]:
    """Yield the parameters that messages hold, and whether such a message is the system's."""
    function = place.functions[place.owner(node.body[0])]
    for each in place.owned_by(function.qualname):
        for value, is_system in _held(project, place, each):
            parts = made_from(place, function.qualname, [value])
            made_of = set(_whole(place, value)) if is_system else parts
            names = {part.id for part in made_of if isinstance(part, ast.Name)}
            yield from ((name, is_system) for name in function.given if name in names)


def _whole(
    place: Syntax, value: ast.expr, seen: frozenset[ast.expr] = frozenset()
) -> Iterator[ast.expr]:
    """Yield what a value is as a whole, and not a part of: ``prompt or DEFAULT``, under any name.

    ``seen``: the values on the way, as a loop may lead back to one.
    """
    if value in seen:
        return
    made = choices(value)
    if isinstance(value, ast.Name):
        yield value
        made = place.values_of(value)
    for each in made:
        yield from _whole(place, each, seen | {value})


def _held(
    project: Project, place: Syntax, node: ast.AST
) -> Iterator[tuple[ast.expr, bool]]:
    """Yield what a message holds, or a call puts into one, and whether it is the system's."""
    written = entries(node)
    role, content = text_of(written.get("role")), written.get("content")
    if role is not None and content is not None:
        yield content, role in INSTRUCT
    if not isinstance(node, ast.Call):
        return
    for name in INSTRUCTIONS:
        if name in written:
            yield written[name], True
    for path, qualname in resolve(project, place, node.func):
        home = project.home(path)
        function = home.functions[qualname]
        for name, is_system in _said(project, home, function.node):
            given = argument_of(node, name, function.positional)
            if given is not None:
                yield given, is_system
