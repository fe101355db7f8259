"""Finds how a project makes the objects that an episode needs.

A ``main()``, a test or a factory already calls the entry point, or its class, with real
objects. What such a call passes is taken over with the statements before it that it
depends on, as long as nothing in them belongs to one run only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from art_adapt.calls import CLIENT_CLASSES
from art_adapt.code.call_graph import CallGraph
from art_adapt.code.classes import annotated, is_enum
from art_adapt.code.command_line import usual_text
from art_adapt.code.held_objects import holds_objects
from art_adapt.code.index import constructed
from art_adapt.code.instances import classes_of
from art_adapt.code.nodes import argument_of
from art_adapt.code.project import Project
from art_adapt.code.syntax import Syntax
from art_adapt.survey.inputs.run_state import is_of_a_run
from art_adapt.survey.inputs.slices import construction
from art_adapt.survey.inputs.supplied import MODEL
from art_adapt.survey.making.call_ranks import (
    DEMOS,
    TESTS,
    Site,
    best,
    ordered,
    rank,
)
from art_adapt.survey.making.environment import (
    is_of_environment,
    made_of_environment,
)
from art_adapt.survey.model import Construction, EntryPoint, Parameter


def with_constructions(
    project: Project, graph: CallGraph, entry: EntryPoint, *, demos: bool = True
) -> EntryPoint:
    """Say of each object that ``entry`` needs how the project makes it, where it does.

    Where the task is given to the function, all that a call gives the class belongs to the
    agent: its prompt and its limits are taken over with its objects. ``demos``: what a
    demo or a test shows counts, too.
    """
    worst = TESTS if demos else DEMOS - 1
    syntax = project.files[entry.home]
    if entry.constructor:
        made_at = constructed(project, syntax, entry.class_name)
        sites = ordered(project, syntax, made_at, worst)
        constructor = _with_objects(project, entry.constructor, sites)
        constructor = _unless_own(project, constructor, sites)
        if _has_task(entry):
            constructor = _configured(project, syntax, constructor, sites)
        made = made_by(project, syntax, constructor, sites)
        made = _filled_records(project, syntax, made, sites, told=_is_told(entry))
        entry = replace(entry, constructor=_with_own_model(made, sites))
    if entry.parameters:
        called_at = list(graph.calls_of(project, entry.key))
        sites = ordered(project, syntax, called_at, worst)
        parameters = _with_objects(project, entry.parameters, sites)
        parameters = _unless_own(project, parameters, sites)
        made = tuple(
            parameter if _is_choice(project, syntax, parameter) else each
            for parameter, each in zip(
                parameters, made_by(project, syntax, parameters, sites), strict=True
            )
        )
        made = _filled_records(project, syntax, made, sites, told=_is_told(entry))
        made = _with_options(project, syntax, made, sites)
        entry = replace(entry, parameters=_with_own_model(made, sites))
    return entry


def _is_choice(project: Project, place: Syntax, parameter: Parameter) -> bool:
    """True if a function is told one of an enumeration's members: a scenario's to say."""
    found = annotated(project, place, ast.Constant(parameter.annotation or ""))
    return any(is_enum(home, name) for home, name in found)


def _names_a_model(parameter: Parameter) -> bool:
    """True if a model's name has to be given for a parameter."""
    return parameter.supplied == MODEL and parameter.default is None


def _with_own_model(
    parameters: tuple[Parameter, ...], sites: Sequence[Site]
) -> tuple[Parameter, ...]:
    """Give the agent the model's name that the project gives it, where it has to have one.

    Agents look such names up, and refuse others; which model is asked in a rollout does
    not depend on it.
    """

    def named(parameter: Parameter) -> Parameter:
        if not _names_a_model(parameter):
            return parameter
        for place, value in _passed(parameter, parameters, sites):
            if text := usual_text(place, value):
                own = Construction(place.place(value), repr(text))
                return replace(parameter, is_object=True, made=own)
        return parameter

    return tuple(map(named, parameters))


def is_unknown(parameter: Parameter) -> bool:
    """True if nothing has shown yet how an object is made."""
    needed = parameter.is_object and parameter.default is None
    return needed and parameter.made is None


def _is_open(parameter: Parameter) -> bool:
    """True if episode() would make a record of what the scenario says."""
    return parameter.is_record and parameter.made is None


def _may_be_empty(parameter: Parameter) -> bool:
    """True if episode() would make a record of nothing: a configuration, a registry."""
    fields = parameter.fields or ()
    return _is_open(parameter) and all(each.default is not None for each in fields)


def _filled_records(
    project: Project,
    agent: Syntax,
    parameters: tuple[Parameter, ...],
    sites: Sequence[Site],
    *,
    told: bool,
) -> tuple[Parameter, ...]:
    """Make records as the application does that could be empty or are of the environment.

    One that a call makes of mere literals may be the task, if the function is ``told``
    nothing else.
    """
    sites = [site for site in sites if rank(project, site, agent) < DEMOS]
    found = []
    for parameter in parameters:
        given = [
            (place, value)
            for place, value in _passed(parameter, parameters, sites)
            if (
                _may_be_empty(parameter)
                and (
                    told
                    or not all(map(_is_of_literals, place.values_of(value) or [value]))
                )
            )
            or (
                told
                and _is_open(parameter)
                and is_of_environment(project, place, value)
            )
        ]
        for place, value in given[:1]:
            made = construction(project, agent, place, value)
            passed = parameter.passed or place.place(value)
            parameter = replace(parameter, passed=passed)
            if made is not None:
                parameter = replace(parameter, fields=None, is_object=True, made=made)
        if told and _is_open(parameter) and not _may_be_empty(parameter):
            made = made_of_environment(project, agent, agent, parameter)
            if made is not None:
                parameter = replace(parameter, fields=None, is_object=True, made=made)
        found.append(parameter)
    return tuple(found)


def _with_options(
    project: Project,
    agent: Syntax,
    parameters: tuple[Parameter, ...],
    sites: Sequence[Site],
) -> tuple[Parameter, ...]:
    """Give a function what all calls of the application give it beside the task.

    A store, tools or a prompt that it could do without are the agent's all the same.
    """
    sites = best(project, agent, sites, DEMOS)
    names = [parameter.name for parameter in parameters]
    if not sites:
        return parameters
    taken = list(_from_call(project, agent, parameters, *sites[0]))
    return tuple(
        option
        if each.default is not None
        and len({_given(call, each.name, names) for _, call in sites}) == 1
        and (option.made is not None or each.is_object)
        else each
        for each, option in zip(parameters, taken, strict=True)
    )


def _is_of_literals(value: ast.expr) -> bool:
    """True if a call is given nothing but literals, as by a demo."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
        return isinstance(value, ast.Constant)
    given = [*value.args, *(each.value for each in value.keywords)]
    if not given and not value.func.id[:1].isupper():
        return False  # load_config()
    return not any(
        isinstance(node, ast.Name) for each in given for node in ast.walk(each)
    )


def is_configured(entry: EntryPoint) -> bool:
    """True if a call of the project has shown what the agent's class is given."""
    return any(each.made is not None for each in entry.constructor)


def _passed(
    parameter: Parameter, parameters: Sequence[Parameter], sites: Sequence[Site]
) -> Iterator[tuple[Syntax, ast.expr]]:
    """Yield what calls pass for a parameter, with the files that they stand in."""
    names = [each.name for each in parameters]
    for place, call in sites:
        value = argument_of(call, parameter.name, names)
        if value is not None:
            yield place, value


def _has_task(entry: EntryPoint) -> bool:
    """True if what differs between episodes is given to the function itself."""
    return any(
        not (each.is_client or each.is_object or each.supplied)
        for each in entry.parameters
    )


def _with_objects(
    project: Project, parameters: tuple[Parameter, ...], sites: Sequence[Site]
) -> tuple[Parameter, ...]:
    """Take a list for an object where a call puts functions or objects into it: tools."""
    return tuple(
        replace(each, is_object=True)
        if not (each.is_client or each.is_object or each.supplied or each.fields)
        and any(
            holds_objects(project, place, value)
            for place, value in _passed(each, parameters, sites)
        )
        else each
        for each in parameters
    )


def _is_told(entry: EntryPoint) -> bool:
    """True if the function has to be given something that no object or record is."""
    return any(
        each.default is None
        and not (each.is_client or each.is_object or each.supplied or each.is_record)
        for each in entry.parameters
    )


def _unless_own(
    project: Project, parameters: tuple[Parameter, ...], sites: Sequence[Site]
) -> tuple[Parameter, ...]:
    """Take a parameter called ``client`` for an object where calls give one of the project."""

    def is_own(parameter: Parameter) -> bool:
        return any(
            found[1] not in CLIENT_CLASSES
            for place, value in _passed(parameter, parameters, sites)
            for found in classes_of(project, place, value)
        )

    return tuple(
        replace(each, is_client=False, is_object=True)
        if each.is_client and each.annotation is None and is_own(each)
        else each
        for each in parameters
    )


def _configured(
    project: Project,
    agent: Syntax,
    parameters: tuple[Parameter, ...],
    sites: Sequence[Site],
) -> tuple[Parameter, ...]:
    """Take over all that one call gives a class, one that shows each object if there is.

    What has to be given, and is given differently by calls of one rank, is a scenario's.
    """
    if any(each.made is not None for each in parameters):
        return parameters
    sites = [each for each in sites if not _is_of_a_run(each)] or sites
    sites = best(project, agent, sites, TESTS)
    names = [parameter.name for parameter in parameters]
    varying = {
        each.name
        for each in parameters
        if each.default is None
        and not each.is_object
        and len({_given(call, each.name, names) for _, call in sites}) > 1
    }
    tried = [
        tuple(
            each if each.name in varying else taken
            for each, taken in zip(
                parameters,
                _from_call(project, agent, parameters, place, call),
                strict=True,
            )
        )
        for place, call in sites
    ]
    whole = (
        found
        for found in tried
        if not any(is_unknown(each) and each.passed is not None for each in found)
    )
    return next(whole, tried[0] if tried else parameters)


def _is_of_a_run(site: Site) -> bool:
    place, call = site
    given = (*call.args, *(each.value for each in call.keywords))
    return any(is_of_a_run(place, value) for value in given)


def _given(call: ast.Call, name: str, names: Sequence[str]) -> str | None:
    value = argument_of(call, name, names)
    return None if value is None else ast.unparse(value)


def _from_call(
    project: Project,
    agent: Syntax,
    parameters: tuple[Parameter, ...],
    place: Syntax,
    call: ast.Call,
) -> Iterator[Parameter]:
    names = [parameter.name for parameter in parameters]
    for parameter in parameters:
        value = argument_of(call, parameter.name, names)
        if value is None or parameter.is_client or parameter.supplied:
            yield parameter
            continue
        made = construction(project, agent, place, value)
        passed = place.place(value)
        if made is None or ast.unparse(value) == parameter.default:
            yield replace(parameter, passed=passed)
        else:
            yield replace(
                parameter,
                default=None,
                is_object=True,
                fields=None,
                made=made,
                passed=passed,
            )


def made_by(
    project: Project,
    syntax: Syntax,
    parameters: tuple[Parameter, ...],
    sites: Sequence[Site],
) -> tuple[Parameter, ...]:
    """Say of each object that has to be given how one of the calls makes it."""
    found = []
    for parameter in parameters:
        made, passed = parameter.made, parameter.passed
        given = list(_passed(parameter, parameters, sites))
        if is_unknown(parameter) and given:
            place, value = given[0]
            passed = passed or place.place(value)
            tried = (
                construction(project, syntax, place, value, running=running)
                for running in (False, True)
                for place, value in given
            )
            made = next((each for each in tried if each is not None), None)
        found.append(replace(parameter, made=made, passed=passed))
    return tuple(found)
