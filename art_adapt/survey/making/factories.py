"""Finds a function of the project that makes the agent: ``build_agent(settings)``.

It stands in where the agent has to be given something that cannot be taken over.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Container, Iterator
from dataclasses import replace

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.classes import FunctionKey
from art_adapt.code.command_line import reads_arguments
from art_adapt.code.importable import (
    ImportedName,
    is_importable,
    module_at,
    runs_when_imported,
)
from art_adapt.code.index import constructed
from art_adapt.code.nodes import Function, decorator_names
from art_adapt.code.project import Project
from art_adapt.code.syntax import Syntax
from art_adapt.source import Place
from art_adapt.survey.inputs.parameters import parameters_of
from art_adapt.survey.making.built import built_of
from art_adapt.survey.making.call_ranks import DEMOS, Site, ordered
from art_adapt.survey.making.constructions import is_unknown, made_by
from art_adapt.survey.making.dependencies import provided
from art_adapt.survey.making.given import from_call, given_by
from art_adapt.survey.making.kept import returns_kept
from art_adapt.survey.making.own_models import with_own_model
from art_adapt.survey.model import Construction, EntryPoint, Parameter
from art_adapt.survey.side_effects.effects import asks_a_person


def with_factory(
    project: Project,
    graph: CallGraph,
    entry: EntryPoint,
    reaching: Container[FunctionKey],
) -> EntryPoint:
    """Make the agent with a function of the project, where nothing else shows how.

    An agent that is filled after it is made is made by the function that fills it.
    """
    whole = entry.instance
    unknown = entry.constructor if whole is None else (whole,)
    shown = list(_shown(project))
    missing = any(map(is_unknown, unknown)) or entry.is_abstract
    if entry.context or not (missing or shown or entry.constructor):
        return entry  # who leaves a context is not known
    agent = project.files[entry.home]
    for place, function in (*shown, *_factories(project, agent, entry)):
        is_shown = (place, function) in shown
        lacks = missing or any(
            _is_open(each) and _contains(place, function, each.passed)
            for each in unknown
        )
        if not (lacks or is_shown):
            continue
        if whole is not None and not (
            is_shown or _contains(place, function, whole.passed)
        ):
            continue
        module = module_at(project, agent, place.source.path)
        runs = place is not agent and runs_when_imported(place)
        if module is None or (runs and not is_importable(place)):
            continue
        key = (place.source.path, function.qualname)
        parameters = parameters_of(project, place, function)
        calls = list(graph.calls_of(project, key))
        if not calls and "classmethod" in decorator_names(function.node):
            continue  # for users of a library: what it leaves out may be the task
        shown_by = given_by(project, agent, calls, parameters, DEMOS)
        if not (missing or is_shown) and any(map(shown_by.differs, parameters)):
            continue  # the class itself says what a row has to
        applied = shown_by.best(DEMOS, shown_by.sites).sites[:1]
        for site in applied:
            parameters = tuple(from_call(shown_by, parameters, site))
        parameters = with_own_model(shown_by, made_by(shown_by, parameters))
        parameters = tuple(
            provided(project, agent, place, function, each) for each in parameters
        )
        given = tuple(
            built_of(project, agent, place, each, reaching) for each in parameters
        )
        if any(each is None or is_unknown(each) for each in given):
            continue
        name = function.qualname
        made = Construction(
            place.place(function.node),
            name,
            (ImportedName(module, name.partition(".")[0]),),
            functions=(key,),
        )
        instance = Parameter(
            "agent",
            entry.class_name,
            None,
            fields=tuple(each for each in given if each is not None),
            made=made,
        )
        setup = tuple(
            call
            for call in entry.setup
            if not (is_shown and _contains(place, function, call.place))
        )
        return replace(entry, instance=instance, is_abstract=False, setup=setup)
    return entry


def _is_open(parameter: Parameter) -> bool:
    """True if a row would have to say what a class is given."""
    is_given = parameter.is_client or parameter.supplied or parameter.made is not None
    return parameter.default is None and not is_given


def made_by_factories(
    project: Project, graph: CallGraph, entry: EntryPoint
) -> Iterator[Site]:
    """Yield the calls of functions that do nothing but make an instance of the agent's class."""
    for place, function in _factories(project, project.files[entry.home], entry):
        yield from graph.calls_of(project, (place.source.path, function.qualname))


def _shown(project: Project) -> Iterator[tuple[Syntax, Function]]:
    """Yield the functions that a run has shown to return a new agent, the outermost first."""
    files = {os.path.realpath(path): place for path, place in project.files.items()}
    for path, name in project.session.shown.factories:
        place = files.get(path)
        function = place.functions.get(name) if place is not None else None
        if (
            place is not None
            and function is not None
            and _may_be_called(project, place, function)
        ):
            yield place, function


def _contains(syntax: Syntax, function: Function, place: Place | None) -> bool:
    node = function.node
    return (
        place is not None
        and place.path == syntax.source.path
        and node.lineno <= place.line <= (node.end_lineno or node.lineno)
    )


def _factories(
    project: Project, agent: Syntax, entry: EntryPoint
) -> Iterator[tuple[Syntax, Function]]:
    """Yield the functions that do nothing but make an instance of the agent's class."""
    made = constructed(project, agent, entry.class_name)
    sites = ordered(project, agent, made, DEMOS)
    calls = {call for _, call in sites}
    for place, call in sites:
        function = place.functions.get(place.owner(call))
        if function is not None and _is_factory(project, place, function, calls):
            yield place, function


def _is_factory(
    project: Project, place: Syntax, function: Function, made: Container[ast.AST]
) -> bool:
    """True if a function returns a new instance each time, and asks nobody for anything."""
    if not _may_be_called(project, place, function):
        return False
    returned = [
        node.value
        for node in place.owned_by(function.qualname)
        if isinstance(node, ast.Return)
    ]

    def is_new(value: ast.expr | None) -> bool:
        if not isinstance(value, ast.Name):
            return value in made
        values = place.values_of(value)
        return bool(values) and all(each in made for each in values)

    return bool(returned) and all(map(is_new, returned))


def _may_be_called(project: Project, place: Syntax, function: Function) -> bool:
    """True if a function can be called for each episode: it asks nobody, and keeps nothing."""
    if function.nested or not isinstance(function.node, ast.FunctionDef):
        return False
    allowed = [["staticmethod"], ["classmethod"]] if function.class_name else [[]]
    if decorator_names(function.node) not in allowed:
        return False  # a cache would give all episodes one agent
    for node in place.owned_by(function.qualname):
        if isinstance(node, ast.Global | ast.Yield | ast.YieldFrom):
            return False
        if reads_arguments(place, node):
            return False
    return not (
        asks_a_person(place, function.node) or returns_kept(project, place, function)
    )
