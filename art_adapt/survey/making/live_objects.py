"""Tells live objects among what calls give: no row holds them, so that episode() makes them."""

from __future__ import annotations

import ast
from collections.abc import Container
from dataclasses import replace

from art_adapt.calls import CLIENT_CLASSES
from art_adapt.code.instances import classes_of
from art_adapt.code.object_use import comes_of_an_object, is_entered
from art_adapt.code.project import Project
from art_adapt.code.syntax import Syntax
from art_adapt.code.tables import holds_objects
from art_adapt.survey.inputs.annotated import VAGUE
from art_adapt.survey.inputs.clients import is_made_by_a_platform
from art_adapt.survey.inputs.run_state import (
    is_said,
)
from art_adapt.survey.making.given import Given
from art_adapt.survey.model import EntryPoint, Parameter


def _is_of_an_object(project: Project, place: Syntax, value: ast.expr) -> bool:
    """True if a value is an object, or comes of one: no text, whoever says what it is made with."""
    if any(classes_of(project, place, value)):
        return True
    if is_said(place, value):
        return False
    return is_entered(place, value) or comes_of_an_object(project, place, value)


def live(project: Project, entry: EntryPoint, method: str = "") -> set[str]:
    """Return the parameters by which runs gave a function, or a method of its class, live objects."""
    path, function = entry.key
    named = f"{entry.class_name}.{method}" if method else function
    shown = project.session.shown.objects
    at = str(path.resolve())
    return {name for file, owner, name in shown if (file, owner) == (at, named)}


def as_objects(
    given: Given, parameters: tuple[Parameter, ...], live: Container[str] = ()
) -> tuple[Parameter, ...]:
    """Take for objects what calls show to be some.

    That is a list that functions or objects are put into, as tools, what other code uses as
    an object, and a ``client`` that is an object of the project, or of a chat platform. So is what
    runs gave as a ``live`` object.
    """

    def is_object(parameter: Parameter) -> bool:
        values = given.passed(parameter)
        if parameter.is_client:
            if parameter.annotation is not None or not values:
                return False
            foreign = all(is_made_by_a_platform(*each) for each in values)
            return foreign or any(
                found[1] not in CLIENT_CLASSES
                for place, value in values
                for found in classes_of(given.project, place, value)
            )
        known = any(
            (
                parameter.is_object,
                parameter.supplied,
                parameter.fields,
                parameter.element,
            )
        )
        is_open = parameter.annotation in (None, *VAGUE) and parameter.default is None
        # Who gives a text there has a task to give; others may give a list of messages.
        takes_text = parameter.default is None and any(
            isinstance(value, ast.JoinedStr)
            or (isinstance(value, ast.Constant) and isinstance(value.value, str))
            for _, value in values
        )
        return not (known or takes_text) and any(
            holds_objects(given.project, *each)
            or (
                is_open
                and (parameter.name in live or _is_of_an_object(given.project, *each))
            )
            for each in values
        )

    return tuple(
        replace(each, is_client=False, is_object=True) if is_object(each) else each
        for each in parameters
    )
