"""Finds the answer in the records that a function returns: ``Result(message.content, turns)``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from art_adapt.code.nodes import dotted, entries
from art_adapt.code.project import Project
from art_adapt.code.syntax import Syntax
from art_adapt.survey.inputs.parameters import constructor_of


def answers_in(
    project: Project,
    syntax: Syntax,
    returned: Sequence[ast.expr],
    replies_in: Callable[[ast.expr], Iterator[ast.expr]],
    keys: Mapping[ast.expr, str],
) -> dict[ast.expr, list[ast.expr]]:
    """Return the answers in those of the values that a class of the project makes.

    One that shows the model's reply tells in which field the others of its class have theirs:
    ``Result("out of turns", turns)``. None of them is in the result if no field tells.

    Args:
        returned: the values.
        replies_in: what finds the model's replies in a value.
        keys: of dicts with one answer, under which of theirs it is: they are records, too.
    """
    made: dict[ast.expr, tuple[Path, str]] = {
        value: (found[0].source.path, found[1])
        for value in returned
        if isinstance(value, ast.Call)
        and (found := project.class_named(syntax, dotted(value.func) or "")) is not None
    }
    given: dict[ast.expr, dict[str, ast.expr]] = {
        value: dict(_given(project, syntax, value))
        for value in made
        if isinstance(value, ast.Call)
    }
    for value, key in keys.items():
        given[value] = {key: entries(value)[key]}
        made[value] = (syntax.source.path, f"[{key}]")
    replies = {
        value: {name: list(replies_in(each)) for name, each in fields.items()}
        for value, fields in given.items()
    }
    shown = {
        (made[value], name)
        for value, fields in replies.items()
        if sum(map(len, fields.values())) == 1
        for name, found in fields.items()
        if found
    }
    if not shown:
        return {}
    return {
        value: [reply for found in fields.values() for reply in found]
        or [each for name, each in given[value].items() if (made[value], name) in shown]
        for value, fields in replies.items()
    }


def _given(
    project: Project, syntax: Syntax, call: ast.Call
) -> Iterator[tuple[str, ast.expr]]:
    """Yield what a record is made with, by the names of its constructor's parameters."""
    found = project.class_named(syntax, dotted(call.func) or "")
    names = [each.name for each in constructor_of(project, *found)] if found else []
    for name, value in zip(names, call.args, strict=False):
        if isinstance(value, ast.Starred):
            break
        yield name, value
    yield from ((k.arg, k.value) for k in call.keywords if k.arg is not None)
