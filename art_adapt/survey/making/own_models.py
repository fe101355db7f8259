"""Gives an agent the model's name, and the client for its side jobs, that its project gives it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from art_adapt.calls import CLIENT_CLASSES
from art_adapt.code.command_line import usual_text
from art_adapt.code.nodes import dotted, last_name
from art_adapt.code.project import Project
from art_adapt.code.questions import question
from art_adapt.code.syntax import Syntax
from art_adapt.code.values import steps
from art_adapt.secret_texts import secrets_in
from art_adapt.survey.inputs.supplied import MODEL
from art_adapt.survey.making.given import Given
from art_adapt.survey.model import Construction, EntryPoint, Parameter

# Arguments of clients that say who pays.
PRIVATE = ("api_key", "default_headers", "default_query", "organization")


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
        own = (made for made in shown if made is not None and not _is_private(made))
        return replace(parameter, made=next(own, None))

    return tuple(map(made, parameters))


def _is_private(made: Construction) -> bool:
    """True if a client is made with a key, or an account, that is written out."""
    texts = (*(each.text for each in made.statements), made.value)
    nodes = [node for text in texts for node in ast.walk(ast.parse(text))]
    kept = (n for n in nodes if isinstance(n, ast.keyword) and n.arg in PRIVATE)
    written = (n for n in nodes if isinstance(n, ast.Constant))
    return any(_is_literal(each.value) for each in kept) or any(
        "?" in str(each.value) or any(secrets_in(str(each.value))) for each in written
    )


def _is_literal(value: ast.expr) -> bool:
    if isinstance(value, ast.Dict):
        return any(map(_is_literal, value.values))
    return isinstance(value, ast.JoinedStr) or (
        isinstance(value, ast.Constant) and isinstance(value.value, str)
    )


@question
def _wrapping(project: Project, place: Syntax, value: ast.expr) -> Iterator[bool]:
    """Yield, of each class that may make a client, whether another library has it."""
    if isinstance(value, ast.Call) and last_name(value.func) in CLIENT_CLASSES:
        named = place.qualified(value.func) or ""
        head = (dotted(value.func) or "").partition(".")[0]
        of_project = head in place.imports and project.located(place, head) is not None
        yield "." in named and not named.startswith("openai.") and not of_project
    for home, each in steps(project, place, value):
        yield from _wrapping(project, home, each)


def _is_wrapped(project: Project, place: Syntax, value: ast.expr) -> bool:
    """True if a client certainly is of another library than openai."""
    found = _wrapping(project, place, value)
    return bool(found) and all(found)
