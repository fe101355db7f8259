"""Gives a function what the project gives it beside the task: a store, tools, a prompt."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Sequence
from dataclasses import replace

from art_adapt.code.classes import FunctionKey, annotated, is_enum
from art_adapt.code.command_line import is_choice_of_option, usual_text
from art_adapt.code.dependence import made_from
from art_adapt.code.project import Project
from art_adapt.code.resolution import resolve
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.code.values import steps
from art_adapt.survey.inputs.run_state import (
    is_a_row,
    is_new_list,
    is_said,
    is_secret,
    is_the_same,
)
from art_adapt.survey.making.call_ranks import DEMOS, rank
from art_adapt.survey.making.given import HANDED_ON, Given, from_call, made_as
from art_adapt.survey.model import Parameter
from art_adapt.words import EMPTY_TEXTS, MAIN

SAYS_NOTHING = ("None", "[]", "{}", "()", *EMPTY_TEXTS)


def with_options(
    given: Given,
    parameters: tuple[Parameter, ...],
    grown: Container[str | None],
    prompts: Container[str] = (),
) -> tuple[Parameter, ...]:
    """Give a function what all calls of the application give it beside the task.

    A store, tools or a prompt that it could do without are the agent's all the same; so is
    what it has to be given, if the task is something else that a person says there.
    ``grown``: the names of what the function adds to, which each episode needs anew.
    ``prompts``: those that only the system's message holds: they are no task.
    """
    applied = replace(
        given,
        sites=tuple(
            site
            for site in given.sites
            if rank(given.project, site, given.agent) < DEMOS
        ),
    )
    given = given.best(DEMOS, given.sites)
    if not given.sites:
        return parameters
    options = from_call(given, parameters, given.sites[0])
    asks_one_thing = _asks_one_thing(given, parameters)
    said = [p for p in parameters if not p.supplied and _is_said_to(given, p)]
    rows = [p for p in parameters if _all_passed(given, p, is_a_row)]
    tasks = [p for p in parameters if p.default is None and p.name not in prompts]
    asked = any(not (p.is_client or p.is_object or p.supplied) for p in tasks)

    def is_overruled(parameter: Parameter) -> bool:
        """True if the application gives something in the place of a default.

        A greeting that asks for one thing, and says how, does so for itself alone.
        """
        is_text = all(
            usual_text(place, value) is not None
            for place, value in given.passed(parameter)
        )
        for_itself = (
            asks_one_thing and is_text and parameter.default not in SAYS_NOTHING
        )
        # A program that is told nothing else: what is picked there is its task.
        picked = not (asked or said) and any(
            _is_picked(*e) for e in given.passed(parameter)
        )
        return not (applied.differs(parameter) or for_itself or picked)

    def is_beside(parameter: Parameter) -> bool:
        choice = is_choice(given.project, given.agent, parameter)
        passed = given.passed(parameter)
        alike = all(
            not is_secret(value, parameter.name)
            and (
                is_new_list(place, value)
                if parameter.name in grown
                else is_the_same(place, value)
            )
            for place, value in passed
        )
        is_text = any(usual_text(*each) is not None for each in passed)
        told = (
            bool(said)
            or (bool(rows) and not is_text)
            or (asked and parameter.name in prompts)
        )
        return told and parameter not in (*said, *rows) and not choice and alike

    def taken(each: Parameter, option: Parameter) -> Parameter:
        optional = each.default is not None
        if not (is_overruled(each) if optional else is_beside(each)) or (
            given.differs(each) and (each.name in prompts or not _is_made(given, each))
        ):
            return each
        if option.made is not None or each.is_object:
            return option
        # A report says of an option that its call passes something else.
        return option if optional else made_as(option, given.shown(each))

    return tuple(map(taken, parameters, options))


def _asks_one_thing(given: Given, parameters: Sequence[Parameter]) -> bool:
    """True if functions, and no start of the program, ask for what is written there."""
    required = [p for p in parameters if p.default is None and not p.is_client]
    tasks = [value for p in required for _, value in given.passed(p)]
    starts = (
        owner == MODULE_LEVEL or MAIN.match(owner.rpartition(".")[2])
        for place, call in given.sites
        for owner in [place.owner(call)]
    )
    return (
        bool(tasks)
        and all(isinstance(each, ast.Constant) for each in tasks)
        and not any(starts)
    )


def _is_said_to(given: Given, parameter: Parameter) -> bool:
    """True if a person says in a run what calls pass for a parameter."""
    return any(is_said(*each) for each in given.passed(parameter))


def _is_picked(place: Syntax, value: ast.expr) -> bool:
    """True if a person picks on the command line what a value is made from: ``SEEDS[args.seed]``."""
    made_of = made_from(place, place.owner(value), [value])
    return any(is_choice_of_option(place, node) for node in made_of)


def _is_made(given: Given, parameter: Parameter) -> bool:
    """True if calls that spell a parameter differently all give what one function has made.

    That is ``load_documents()`` and ``resources.documents``, which that function has filled.
    """
    makers = [
        _makers(given.project, place, value, HANDED_ON)
        for place, value in given.passed(parameter)
    ]
    return parameter.default is None and bool(set.intersection(*makers))


def _makers(
    project: Project, place: Syntax, value: ast.expr, depth: int
) -> set[FunctionKey]:
    """Return the functions that a value is made by, and those that make it for these."""
    nodes = made_from(place, place.owner(value), [value])
    made = [node for node in nodes if isinstance(node, ast.Call)]
    found = {key for each in made for key in resolve(project, place, each.func)}
    if depth:
        further = [
            each
            for node in nodes
            if isinstance(node, ast.expr)
            for each in steps(project, place, node)
        ]
        for home, each in further:
            if each not in nodes:
                found |= _makers(project, home, each, depth - 1)
    return found


def _all_passed(
    given: Given, parameter: Parameter, holds: Callable[[Syntax, ast.expr], bool]
) -> bool:
    passed = given.passed(parameter)
    return bool(passed) and all(holds(*each) for each in passed)


def is_choice(project: Project, place: Syntax, parameter: Parameter) -> bool:
    """True if a function is told one of an enumeration's members: a scenario's to say."""
    found = annotated(project, place, ast.Constant(parameter.annotation or ""))
    return any(is_enum(home, name) for home, name in found)
