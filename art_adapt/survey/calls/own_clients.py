"""Tells a project's own class, called in the words of the OpenAI client, from an SDK's client."""

from __future__ import annotations

import ast

from art_adapt.calls import CallKind
from art_adapt.code.classes import FunctionKey, has_library_base, lineage
from art_adapt.code.nodes import dotted
from art_adapt.code.project import Project
from art_adapt.code.resolution import resolve
from art_adapt.code.syntax import Syntax, return_values
from art_adapt.code.values import steps

DEEPEST = 3  # assignments in a row that are followed to where a client is made


def methods_of_own(
    project: Project, syntax: Syntax, callee: ast.expr, client: ast.expr
) -> list[FunctionKey]:
    """Return the project's methods that a call is of, if its client is always an object of it."""
    made: list[tuple[Syntax, ast.expr]] = (
        [(syntax, client)] if isinstance(client, ast.Call) else []
    )
    made += steps(project, syntax, client)
    if not made or not all(_makes_own(project, *each) for each in made):
        return []
    found = resolve(project, syntax, callee)
    return [] if any(_extends_a_library(project, key) for key in found) else found


def _extends_a_library(project: Project, key: FunctionKey) -> bool:
    """True if the class of a method derives from one that is not the project's: the SDK's own."""
    place, owner = project.files[key[0]], key[1].rpartition(".")[0]
    return any(
        has_library_base(project, *each) for each in lineage(project, place, owner)
    )


def _makes_own(project: Project, place: Syntax, value: ast.expr) -> bool:
    """True if a value is made of a class of the project, here or in a function that returns it."""
    if not isinstance(value, ast.Call):
        return False
    if project.class_named(place, dotted(value.func) or "") is not None:
        return True
    returned = [
        (project.files[path], each)
        for path, name in resolve(project, place, value.func)
        for each in return_values(project.files[path], name)
    ]
    return bool(returned) and all(
        isinstance(each, ast.Call)
        and project.class_named(where, dotted(each.func) or "") is not None
        for where, each in returned
    )


def is_made_of(
    project: Project, syntax: Syntax, client: ast.expr, kind: CallKind, depth: int = 0
) -> bool:
    """True if a client is made of a class of the SDK somewhere in the project."""
    for place, value in steps(project, syntax, client) if depth < DEEPEST else ():
        if isinstance(value, ast.Call):
            package, _, name = (place.qualified(value.func) or "").rpartition(".")
            if package in kind.libraries and name in kind.clients:
                return True
        if is_made_of(project, place, value, kind, depth + 1):
            return True
    return False
