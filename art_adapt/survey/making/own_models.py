"""Gives an agent the model's name, and the client for its side jobs, that its project gives it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from art_adapt.calls import CLIENT_CLASSES
from art_adapt.code.command_line import usual_text
from art_adapt.code.nodes import last_name
from art_adapt.code.project import Project
from art_adapt.code.questions import question
from art_adapt.code.syntax import Syntax
from art_adapt.code.values import steps
from art_adapt.survey.inputs.supplied import MODEL
from art_adapt.survey.making.given import Given
from art_adapt.survey.model import Construction, EntryPoint, Parameter


def with_own_model(
    given: Given, parameters: tuple[Parameter, ...]
) -> tuple[Parameter, ...]:
    """Give the agent the model's name that the project gives it.

    Agents look such names up, and refuse others; which model is asked in a rollout does
    not depend on it. Where it has to be typed, a watched run may have shown one.
    """
    seen = given.project.session.shown.model

    def named(parameter: Parameter) -> Parameter:
        optional = parameter.default is not None
        if parameter.supplied != MODEL or (optional and given.differs(parameter)):
            return parameter
        for place, value in given.passed(parameter):
            text = usual_text(place, value) or ("" if optional else seen)
            if text and repr(text) != parameter.default:
                own = Construction(place.place(value), repr(text))
                return replace(parameter, is_object=True, made=own, default=None)
        return parameter

    return tuple(map(named, parameters))


def with_own_clients(
    entry: EntryPoint, given: Given, parameters: tuple[Parameter, ...]
) -> tuple[Parameter, ...]:
    """Make the clients that side jobs ask over, too, as the project makes them.

    So are those of another library, ``langfuse.openai.OpenAI``: they take more than openai's.
    Recorded calls go to the model in training, whichever client the agent has.
    """

    def made(parameter: Parameter) -> Parameter:
        if not parameter.is_client or parameter.default not in (None, "None"):
            return parameter
        if not entry.shares_client and not any(
            _is_wrapped(given.project, *each) for each in given.passed(parameter)
        ):
            return parameter
        shown = (given.made(*each) for each in given.passed(parameter))
        return replace(parameter, made=next(filter(None, shown), None))

    return tuple(map(made, parameters))


@question
def _wrapping(project: Project, place: Syntax, value: ast.expr) -> Iterator[bool]:
    """Yield, of each class that may make a client, whether another library has it."""
    if isinstance(value, ast.Call) and last_name(value.func) in CLIENT_CLASSES:
        named = place.qualified(value.func) or ""
        yield "." in named and not named.startswith("openai.")
    for home, each in steps(project, place, value):
        yield from _wrapping(project, home, each)


def _is_wrapped(project: Project, place: Syntax, value: ast.expr) -> bool:
    """True if a client certainly is of another library than openai."""
    found = _wrapping(project, place, value)
    return bool(found) and all(found)
