"""Finds what the calls of a project give for a parameter."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from art_adapt.code.classes import is_super
from art_adapt.code.index import calls_of_only, constructed, derived_from
from art_adapt.code.nodes import Function, argument_of
from art_adapt.code.project import Project
from art_adapt.code.syntax import Syntax


def given_for(
    project: Project, syntax: Syntax, value: ast.expr
) -> Iterator[tuple[Syntax, ast.expr]]:
    """Yield what the project's calls of a function give for the parameter ``value``.

    A function counts where no other has its name: a call tells no more of it.
    """
    function = function_given(syntax, value)
    if function is not None and isinstance(value, ast.Name):
        parameter = (syntax.source.path, function.qualname, value.id)
        yield from project.know(_given, parameter)


def _given(
    project: Project, parameter: tuple[Path, str, str]
) -> tuple[tuple[Syntax, ast.expr], ...]:
    path, qualname, name = parameter
    syntax = project.file(path)
    function = syntax.functions.get(qualname) if syntax is not None else None
    if syntax is None or function is None:
        return ()  # in a project that has other files
    if function.node.name == "__init__":
        owner = function.qualname.rpartition(".")[0]
        family = [(syntax, owner), *derived_from(project, syntax, owner)]
        calls: Sequence[tuple[Syntax, ast.Call]] = [
            call
            for place, derived in family
            if place is syntax or f"{derived}.__init__" not in place.functions
            for call in constructed(project, place, derived)
        ]
        calls = [*calls, *_handed_up(project, syntax, owner)]
    else:
        calls = calls_of_only(project, function.node.name)
    found = (
        (place, argument_of(call, name, function.positional)) for place, call in calls
    )
    return tuple((place, given) for place, given in found if given is not None)


def _handed_up(
    project: Project, syntax: Syntax, class_name: str
) -> Iterator[tuple[Syntax, ast.Call]]:
    """Yield the calls ``super().__init__(...)`` in the constructors of derived classes."""
    for place, name in derived_from(project, syntax, class_name):
        for node in place.owned_by(f"{name}.__init__"):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "__init__"
                and is_super(node.func.value)
            ):
                yield place, node


def is_parameter(syntax: Syntax, value: ast.expr) -> bool:
    return function_given(syntax, value) is not None


def function_given(syntax: Syntax, value: ast.expr) -> Function | None:
    """Return the function that has a name for its parameter: the one around it, or a closure's."""
    if not isinstance(value, ast.Name):
        return None
    for function in functions_around(syntax, value):
        if value.id in function.given:
            return function
        if syntax.is_local(value.id, function.qualname):
            return None
    return None


def functions_around(syntax: Syntax, value: ast.expr) -> Iterator[Function]:
    """Yield the function that an expression stands in, and those around that one."""
    parts = syntax.owner(value).split(".")
    for end in range(len(parts), 0, -1):
        function = syntax.functions.get(".".join(parts[:end]))
        if function is not None:
            yield function
