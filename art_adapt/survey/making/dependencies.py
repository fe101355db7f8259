"""Calls what FastAPI would for a parameter: ``store: Annotated[Store, Depends(get_store)]``.

The framework calls the dependency for each request, and an episode is one (fastapi 0.165.0,
dependencies/utils.py, solve_dependencies).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from art_adapt.code.classes import FunctionKey
from art_adapt.code.importable import ImportedName, module_at
from art_adapt.code.nodes import Function, defaults_of, last_name
from art_adapt.code.project import Project
from art_adapt.code.resolution import meant_by
from art_adapt.code.syntax import Syntax
from art_adapt.survey.model import Construction, Parameter


def provided(
    project: Project,
    agent: Syntax,
    place: Syntax,
    function: Function,
    parameter: Parameter,
) -> Parameter:
    """Describe a function's parameter by its dependency, if it has one.

    A dependency that needs something itself, is async, or yields, leaves the parameter
    unknown. A client is the episode's own.
    """
    found = [
        key
        for dependency in _dependencies(function, parameter.name)
        for key in meant_by(project, place, dependency)
    ]
    if not found:
        return parameter
    if parameter.is_client:
        return replace(parameter, default=None)
    unknown = replace(
        parameter, is_object=True, default=None, made=None, fields=None, supplied=""
    )
    path, name = found[0]
    home = project.files[path]
    called = home.functions.get(name)
    module = module_at(project, agent, path)
    if called is None or module is None or called.given or "." in name:
        return unknown
    is_async = isinstance(called.node, ast.AsyncFunctionDef)
    if is_async or any(isinstance(n, ast.Yield) for n in home.owned_by(name)):
        return unknown
    made = Construction(
        home.place(called.node),
        f"{name}()",
        (ImportedName(module, name),),
        functions=((path, name),),
    )
    return replace(unknown, made=made)


def dependencies_of(project: Project, key: FunctionKey) -> list[FunctionKey]:
    """Return the functions whose results a framework gives a function: ``Depends(get_agent)``.

    So do those that these depend on.
    """
    found: list[FunctionKey] = []
    left = [key]
    while left:
        path, name = left.pop()
        function = project.files[path].functions.get(name)
        if function is None:
            continue
        for parameter in function.given:
            for dependency in _dependencies(function, parameter):
                keys = meant_by(project, project.files[path], dependency)
                left += [each for each in keys if each not in found]
                found += keys
    return found


def _dependencies(function: Function, parameter: str) -> Iterator[ast.expr]:
    """Yield the ``f`` of ``Depends(f)`` in a parameter's annotation, or as its default."""
    node = function.node.args
    said: list[ast.expr | None] = [
        each.annotation
        for each in (*node.posonlyargs, *node.args, *node.kwonlyargs)
        if each.arg == parameter
    ]
    said.append(dict(defaults_of(function.node)).get(parameter))
    for each in filter(None, said):
        for inner in ast.walk(each):
            if isinstance(inner, ast.Call) and last_name(inner.func) == "Depends":
                yield from inner.args[:1]
