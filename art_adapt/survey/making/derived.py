"""Finds the arguments that the project computes from others: ``answer(search(text), text)``."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.importable import module_at
from art_adapt.code.nodes import argument_of, dotted
from art_adapt.code.project import Project
from art_adapt.code.resolution import resolve
from art_adapt.code.syntax import Syntax
from art_adapt.survey.making.call_ranks import DEMOS, Site, rank
from art_adapt.survey.model import EntryPoint, Parameter, SetupCall

T = TypeVar("T")


def with_derived(project: Project, graph: CallGraph, entry: EntryPoint) -> EntryPoint:
    """Say which parameters a function of the project computes from what the others are given.

    All calls of the application have to compute it in the same way. A row then says what
    they compute it from, and each episode calls that function as they do.
    """
    if entry.route is not None or entry.is_script or entry.is_request:
        return entry
    agent = project.files[entry.home]
    sites = [
        site
        for site in graph.calls_of(project, entry.key)
        if rank(project, site, agent) < DEMOS
    ]
    told = [each for each in entry.parameters if _is_told(each)]

    def derived(parameter: Parameter) -> Parameter:
        others = [each for each in told if each is not parameter]
        found = {_computed(project, entry, site, parameter, others) for site in sites}
        call = found.pop() if len(found) == 1 else None
        if call is None:
            return parameter
        return replace(parameter, opened=call, is_object=False, fields=None, made=None)

    parameters = tuple(
        derived(each) if each.default is None and each.opened is None else each
        for each in entry.parameters
    )
    return replace(entry, parameters=parameters)


def _is_told(parameter: Parameter) -> bool:
    """True if a row says what a parameter is."""
    return not (
        parameter.is_client
        or parameter.is_object
        or parameter.is_record
        or parameter.supplied
        or parameter.opened
    )


def _computed(
    project: Project,
    entry: EntryPoint,
    site: Site,
    parameter: Parameter,
    others: Sequence[Parameter],
) -> SetupCall | None:
    """Return the call that computes an argument of the call ``site`` from others of it."""
    place, call = site
    names = tuple(each.name for each in entry.parameters)
    computed = argument_of(call, parameter.name, names)
    if isinstance(computed, ast.Name):  # intent = route(text)
        computed = next(iter(_only(place.values_of(computed))), None)
    if isinstance(computed, ast.Await):
        computed = computed.value
    if not isinstance(computed, ast.Call) or computed.keywords:
        return None
    given = tuple(
        replace(other, positional_only=True)
        for argument in computed.args
        for other in others
        if _are_one(place, argument, argument_of(call, other.name, names))
    )
    key = next(iter(_only(resolve(project, place, computed.func))), None)
    if key is None or not given or len(given) != len(computed.args):
        return None
    home, agent = project.files[key[0]], project.files[entry.home]
    function = home.functions[key[1]]
    is_async = isinstance(function.node, ast.AsyncFunctionDef)
    module = module_at(project, agent, key[0])
    if is_async and not entry.is_async:
        return None
    if function.qualname == function.node.name and module is not None:
        return SetupCall(
            home.place(function.node), key[1], key, is_async, given, module
        )
    of_agent = entry.class_name is not None and _object_of(call) is not None
    if of_agent and _object_of(computed) == _object_of(call):
        name = function.node.name
        return SetupCall(home.place(function.node), name, key, is_async, given)
    return None


def _only(found: Sequence[T]) -> Sequence[T]:
    """Return what was found if it is one thing."""
    return found if len(found) == 1 else ()


def _are_one(place: Syntax, one: ast.expr, other: ast.expr | None) -> bool:
    """True if two names have the same value: nothing binds it anew between them."""
    return (
        isinstance(one, ast.Name)
        and isinstance(other, ast.Name)
        and one.id == other.id
        and place.definitions.reaching(one) == place.definitions.reaching(other)
    )


def _object_of(call: ast.Call) -> str | None:
    """Return the name of the object whose method is called."""
    return dotted(call.func.value) if isinstance(call.func, ast.Attribute) else None
