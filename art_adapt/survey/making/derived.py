"""Finds the arguments that the project computes from others: ``answer(search(text), text)``."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.classes import FunctionKey
from art_adapt.code.importable import module_at
from art_adapt.code.nodes import argument_of, dotted
from art_adapt.code.project import Project
from art_adapt.code.resolution import named, resolve
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.survey.making.call_ranks import DEMOS, Site, rank
from art_adapt.survey.making.given import is_used_once
from art_adapt.survey.model import EntryPoint, Parameter, SetupCall
from art_adapt.survey.side_effects.effects import asks_a_person

T = TypeVar("T")


def with_derived(project: Project, graph: CallGraph, entry: EntryPoint) -> EntryPoint:
    """Say which parameters a function of the project computes from what the others are given.

    All calls of the application have to compute it in the same way. A row then says what
    they compute it from, and each episode calls that function as they do. What asks a person,
    or reads what a start of the program has filled, is left to the rows.
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
    found: dict[str, SetupCall] = {}
    for parameter in entry.parameters:
        known = parameter.is_client or parameter.supplied or parameter.opened
        if parameter.default is not None or known:
            continue
        others = [each for each in told if each is not parameter]
        calls = {_computed(project, entry, s, parameter, others) for s in sites}
        call = calls.pop() if len(calls) == 1 else None
        if call is not None and _can_be_repeated(project, graph, call.key):
            found[parameter.name] = call
    names = {call.name: call.key for call in found.values()}
    clash = len({call.key for call in found.values()}) > len(names)
    if clash or any(_is_another(project, agent, *each) for each in names.items()):
        return entry  # the module would import one of them for both

    def derived(parameter: Parameter) -> Parameter:
        call = found.get(parameter.name)
        if call is None or any(each.name in found for each in call.parameters):
            return parameter
        return replace(parameter, opened=call, is_object=False, fields=None, made=None)

    parameters = tuple(map(derived, entry.parameters))
    called = {each.opened.key for each in parameters if each.opened is not None}
    setup = tuple(each for each in entry.setup if each.key not in called)
    return replace(entry, parameters=parameters, setup=setup)


def _is_another(project: Project, agent: Syntax, name: str, key: FunctionKey) -> bool:
    """True if the agent's file has another function of this name."""
    return key not in (named(project, agent, name, MODULE_LEVEL) or [key])


def _can_be_repeated(project: Project, graph: CallGraph, key: FunctionKey) -> bool:
    """True if a function does the same in each episode, with nobody and nothing beside it."""
    for path, name in graph.run_by([key]):
        place = project.files[path]
        function = place.functions.get(name)
        if function is not None and asks_a_person(place, function.node):
            return False
        names = (n.id for n in place.owned_by(name) if isinstance(n, ast.Name))
        if any(
            _is_empty(value) for each in names for value in place.values_at_top(each)
        ):
            return False  # and a start of the program fills it
    return True


def _is_empty(value: ast.expr) -> bool:
    match value:
        case ast.List(elts=[]) | ast.Dict(keys=[]) | ast.Constant(value=None):
            return True
        case ast.Call(func=ast.Name("list" | "dict" | "set"), args=[]):
            return True
    return False


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
    if isinstance(computed, ast.Name) and is_used_once(place, computed):
        computed = next(iter(_only(place.values_of(computed))), None)
    is_awaited = isinstance(computed, ast.Await)
    if isinstance(computed, ast.Await):
        computed = computed.value
    if not isinstance(computed, ast.Call) or computed.keywords:
        return None
    if isinstance(place.parents[computed], ast.withitem):
        return None  # episode() would not close it
    given = tuple(
        replace(other, positional_only=True)
        for argument in computed.args
        for other in others
        if other.default is None  # else a row, and so the call, may leave it out
        and _are_one(place, argument, argument_of(call, other.name, names))
    )
    key = next(iter(_only(resolve(project, place, computed.func))), None)
    if key is None or not given or len(given) != len(computed.args):
        return None
    home, agent = project.files[key[0]], project.files[entry.home]
    function = home.functions[key[1]]
    is_async = isinstance(function.node, ast.AsyncFunctionDef)
    module = module_at(project, agent, key[0])
    if is_async is not is_awaited or (is_async and not entry.is_async):
        return None
    if home.is_guarded(function.node):
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
