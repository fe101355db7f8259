"""Finds how a project makes the objects that an episode needs.

A ``main()``, a test or a factory already calls the entry point, or its class, with real
objects. What such a call passes is taken over with the statements before it that it
depends on, as long as nothing in them belongs to one run only.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.classes import FunctionKey
from art_adapt.code.index import constructed
from art_adapt.code.instances import classes_of
from art_adapt.code.nodes import (
    argument_of,
    dotted,
    given_to,
    grown_list,
    last_name,
)
from art_adapt.code.project import Project
from art_adapt.code.syntax import Syntax
from art_adapt.source import Place
from art_adapt.survey.inputs.instances import asks_the_model
from art_adapt.survey.inputs.run_state import (
    is_of_a_run,
)
from art_adapt.survey.inputs.system_messages import said_by_system
from art_adapt.survey.making.call_ranks import (
    DEMOS,
    TESTS,
    Site,
    not_copying,
    not_handing_on,
    rank,
)
from art_adapt.survey.making.environment import is_of_environment, made_of_environment
from art_adapt.survey.making.given import Given, from_call, given_by, made_as, rest_of
from art_adapt.survey.making.live_objects import as_objects, live
from art_adapt.survey.making.module_state import set_before
from art_adapt.survey.making.options import SAYS_NOTHING, is_choice, with_options
from art_adapt.survey.making.own_models import with_own_clients, with_own_model
from art_adapt.survey.model import EntryPoint, Parameter
from art_adapt.words import CONVERSATIONS

MOST_WAYS = 6  # calls that are looked at for another way to make an object


def with_constructions(
    project: Project,
    graph: CallGraph,
    entry: EntryPoint,
    reaching: Container[FunctionKey] = (),
    *,
    demos: bool = True,
) -> EntryPoint:
    """Say of each object that ``entry`` needs how the project makes it, where it does.

    Where the task is given to the function, all that a call gives the class belongs to the
    agent: its prompt and its limits are taken over with its objects. ``reaching``: the
    functions from which a policy call can be reached. ``demos``: what a demo or a test shows
    counts, too.
    """
    worst = TESTS if demos else DEMOS - 1
    agent = project.files[entry.home]
    if entry.constructor:
        made = constructed(project, agent, entry.class_name)
        seen = _seen_makers(project, entry.class_name)
        made = [*made, *(each for each in seen if each not in made)]
        made = not_handing_on(not_copying(made, entry.class_name or ""))
        calls = _with_what_asks(project, made, reaching)
        given = given_by(project, agent, calls, entry.constructor, worst)
        found = as_objects(given, entry.constructor, live(project, entry, "__init__"))
        if _has_task(entry):
            found = _configured(given, found)
        found = _filled_records(given, made_by(given, found), entry)
        if not _has_task(entry):
            found = with_options(given, found, CONVERSATIONS)
        found = with_own_clients(entry, given, with_own_model(given, found))
        rest = rest_of(given, entry.class_name) if _has_task(entry) else ()
        found = (*_with_other_ways(given, found), *rest)
        entry = replace(entry, constructor=found)
    if entry.parameters:
        called_at = [*graph.calls_of(project, entry.key)]
        called_at += [e for e in _seen_calls(project, entry) if e not in called_at]
        given = given_by(project, agent, called_at, entry.parameters, worst)
        found = as_objects(given, entry.parameters, live(project, entry))
        found = tuple(
            parameter if is_choice(project, agent, parameter) else each
            for parameter, each in zip(found, made_by(given, found), strict=True)
        )
        found = _filled_records(given, found, entry)
        grown = {grown_list(node) for node in agent.owned_by(entry.name)}
        prompts = said_by_system(project, entry.key)
        found = with_options(given, found, {*CONVERSATIONS, *grown}, prompts)
        found = with_own_clients(entry, given, with_own_model(given, found))
        entry = replace(entry, parameters=_with_other_ways(given, found))
    before = set_before(project, agent, [*graph.calls_of(project, entry.key)])
    return replace(entry, before=before)


def _with_other_ways(
    given: Given, parameters: tuple[Parameter, ...]
) -> tuple[Parameter, ...]:
    """Say of each object that is made by a call where the project makes it in another way.

    Which of them is the one to train with, a provider's or a demo's, only the user knows.
    """

    def described(parameter: Parameter) -> Parameter:
        made = parameter.made
        if made is None:
            return parameter
        parameter = replace(parameter, set_later=tuple(_set_later(given, parameter)))
        if "(" not in made.value:
            return parameter
        ways = {
            place.place(value): given.made(place, value)
            for place, value in given.passed(parameter)[:MOST_WAYS]
        }
        others = (at for at, way in ways.items() if way and not way.is_like(made))
        return replace(parameter, otherwise=tuple(others))

    return tuple(map(described, parameters))


def _set_later(given: Given, parameter: Parameter) -> Iterator[Place]:
    """Yield where attributes are set of what calls pass: ``self.tools.executor = executor``.

    What a constructor sets is taken over with the object, and so is what is set of a local name.
    """
    for place, call in given.sites[:MOST_WAYS]:
        passed = argument_of(call, parameter.name, given.names)
        name = None if passed is None else dotted(passed)
        if name is None or "." not in name:
            continue
        for node in place.nodes:
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and dotted(node.value) == name
                and not place.owner(node).endswith("__init__")
            ):
                yield place.place(node)


def _with_what_asks(
    project: Project, calls: Sequence[Site], reaching: Container[FunctionKey]
) -> Sequence[Site]:
    """Return the calls that give an object or a class which asks the model, if some do: else all.

    A game between two engines is no episode, where another one is played by the model.
    """

    def asks(place: Syntax, call: ast.Call) -> bool:
        return any(
            asks_the_model(project, *each, reaching)
            for value in given_to(call)
            for each in (
                *classes_of(project, place, value),
                *filter(None, [project.class_named(place, dotted(value) or "")]),
            )
        )

    return [each for each in calls if asks(*each)] or calls


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
    given: Given, parameters: tuple[Parameter, ...], entry: EntryPoint
) -> tuple[Parameter, ...]:
    """Make records as the application does that could be empty or are of the environment.

    One that a call makes of mere literals may be the task, if the function is told
    nothing else; another one is, if nothing else could be told.
    """
    project, agent = given.project, given.agent
    told = _is_told(entry)
    applied = [site for site in given.sites if rank(project, site, agent) < DEMOS]

    def is_the_agents(parameter: Parameter, place: Syntax, value: ast.expr) -> bool:
        values = place.values_of(value) or [value]
        if _may_be_empty(parameter) and not _tells_all(entry, parameter):
            return told or not all(map(_is_of_literals, values))
        is_open = told and _is_open(parameter)
        return is_open and is_of_environment(project, place, value)

    def filled(parameter: Parameter) -> Parameter:
        for place, value in given.passed(parameter, applied):
            if is_the_agents(parameter, place, value):
                passed = parameter.passed or place.place(value)
                made = given.made(place, value)
                parameter = made_as(replace(parameter, passed=passed), made)
                break
        if told and _is_open(parameter) and not _may_be_empty(parameter):
            made = made_of_environment(project, agent, agent, parameter)
            parameter = made_as(parameter, made)
        return parameter

    return tuple(map(filled, parameters))


def _is_of_literals(value: ast.expr) -> bool:
    """True if a call is given nothing but literals, as by a demo."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
        return isinstance(value, ast.Constant)
    given = given_to(value)
    if not given and not value.func.id[:1].isupper():
        return False  # load_config()
    return not any(
        isinstance(node, ast.Name) for each in given for node in ast.walk(each)
    )


def _seen_calls(project: Project, entry: EntryPoint) -> Iterator[Site]:
    """Yield the calls of a function that a run has shown, though no import may lead to it.

    Its file may be found through ``sys.path``, as only the running program has it.
    """
    name = entry.called.rpartition(".")[2]
    for path, function in sorted(project.session.shown.makers):
        yield from _calls_in(project, path, function, name)


def _seen_makers(project: Project, class_name: str | None) -> Iterator[Site]:
    """Yield the calls that have made an object of a class in a run."""
    for path, function, name in sorted(project.session.shown.parts):
        if name == class_name:
            yield from _calls_in(project, path, function, name)


def _calls_in(project: Project, path: str, function: str, name: str) -> Iterator[Site]:
    place = project.file(Path(path))
    if place is None:
        return
    for node in place.owned_by(function):
        if isinstance(node, ast.Call) and last_name(node.func) == name:
            yield place, node


def is_configured(entry: EntryPoint) -> bool:
    """True if a call of the project has shown what the agent's class is given."""
    return any(each.made is not None for each in entry.constructor)


def _has_task(entry: EntryPoint) -> bool:
    """True if what differs between episodes is given to the function itself, or typed.

    What a call before it tells the agent counts as well: ``agent.add_user_message(text)``.
    """
    types = entry.terminal is not None and entry.terminal.asks
    before = (each for call in entry.setup for each in call.parameters)
    return types or any(
        not (each.is_client or each.is_object or each.supplied)
        for each in (*before, *entry.parameters)
    )


def _is_told(entry: EntryPoint) -> bool:
    """True if the function has to be given something that no object or record is."""
    return any(
        each.default is None
        and not (each.is_client or each.is_object or each.supplied or each.is_record)
        for each in entry.parameters
    )


def _tells_all(entry: EntryPoint, record: Parameter) -> bool:
    """True if episodes could differ in nothing but what a function's record holds.

    What a class is configured with is no task, even if its method is told none.
    """
    is_own = record.name in [each.name for each in entry.parameters]
    return (entry.terminal is None and is_own) and all(
        each.is_client or each.is_object or each.supplied or each.name == record.name
        for each in (*entry.constructor, *entry.parameters)
    )


def _configured(
    given: Given, parameters: tuple[Parameter, ...]
) -> tuple[Parameter, ...]:
    """Take over all that one call gives a class, one that shows each object if there is.

    What has to be given, and is given differently by calls of one rank, is a scenario's.
    """
    if any(each.made is not None for each in parameters):
        return parameters
    usual = [each for each in given.sites if not _is_of_a_run(each)]
    given = given.best(TESTS, usual or given.sites)
    varying = {
        each.name
        for each in parameters
        if each.default is None and not each.is_object and given.differs(each)
    }
    tried = sorted(
        (
            tuple(
                each if each.name in varying else taken
                for each, taken in zip(
                    parameters, from_call(given, parameters, site), strict=True
                )
            )
            for site in given.sites
        ),
        key=_saying_nothing,
    )
    whole = (
        found
        for found in tried
        if not any(is_unknown(each) and each.passed is not None for each in found)
    )
    return next(whole, tried[0] if tried else parameters)


def _saying_nothing(parameters: tuple[Parameter, ...]) -> int:
    """Count the lists and texts that a call shows to be empty: an agent without its tools."""
    made = [each.made for each in parameters if each.made is not None]
    return sum(each.value in SAYS_NOTHING for each in made)


def _is_of_a_run(site: Site) -> bool:
    place, call = site
    return any(is_of_a_run(place, value) for value in given_to(call))


def made_by(given: Given, parameters: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """Say of each object that has to be given how one of the calls makes it."""

    def shown(parameter: Parameter) -> Parameter:
        values = given.passed(parameter) if is_unknown(parameter) else []
        if not values:
            return parameter
        place, value = values[0]
        passed = parameter.passed or place.place(value)
        return replace(parameter, made=given.shown(parameter), passed=passed)

    return tuple(map(shown, parameters))
