"""Finds what an agent could be given by a scenario, and is given the same in every episode."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from pathlib import Path

from art_adapt.code.dependence import made_from
from art_adapt.code.nodes import argument_of, dotted, keyword
from art_adapt.code.project import Project
from art_adapt.code.resolution import resolve
from art_adapt.code.syntax import Syntax
from art_adapt.paths import at
from art_adapt.source import read_source
from art_adapt.survey.inputs.parameters import fields_of
from art_adapt.words import EMPTY_TEXTS


def unpassed(module: Path, keys: Collection[str]) -> dict[str, str]:
    """Return which ``keys`` of rows are parameters for which ``episode()`` passes nothing of them.

    Those keep their default, or what ``episode()`` says for all. Each with the function that
    has it, and where that is. Without keys, nothing is read.

    Raises:
        Refusal: the train module cannot be read.
    """
    if not keys:
        return {}
    source = read_source(module)
    project = Project.of([source], {})
    syntax = project.files[source.path]
    found: dict[str, str] = {}
    passed: set[str | None] = set()
    calls = [n for n in syntax.owned_by("episode") if isinstance(n, ast.Call)]
    for call in calls:
        for field, where in _fields_left(project, syntax, call):
            given = keyword(call, field)
            if given is not None and _is_of_scenario(syntax, given):
                passed.add(field)
            else:
                found.setdefault(field, where)
        entered = resolve(project, syntax, call.func)
        for path, name in entered:
            place = project.files[path]
            function = place.functions[name]
            where = f"{name} ({at(place.place(function.node))})"
            for parameter in function.given:
                value = argument_of(call, parameter, function.positional)
                if value is not None and _is_of_scenario(syntax, value):
                    passed.add(parameter)
                else:
                    found.setdefault(parameter, where)
        if entered or project.class_named(syntax, dotted(call.func) or ""):
            passed.update(None for each in call.keywords if each.arg is None)
    if None in passed:  # a dict's keys are not told apart here
        return {}
    return {key: found[key] for key in keys if key in found and key not in passed}


def _fields_left(
    project: Project, syntax: Syntax, call: ast.Call
) -> Iterator[tuple[str, str]]:
    """Yield the options of the record that a call makes, and where its class is.

    An empty one that code fills in is a place for a result.
    """
    made = project.class_named(syntax, dotted(call.func) or "")
    fields = fields_of(project, *made) if made is not None else None
    for field in fields or ():
        if made is None or call.args or not _is_option(field.default):
            continue
        place, name = made
        if field.default not in ("None", *EMPTY_TEXTS) or not _is_filled_in(
            project, field.name
        ):
            yield field.name, f"{name} ({at(place.place(place.classes[name]))})"


def _is_option(default: str | None) -> bool:
    value = None if default is None else ast.parse(default, mode="eval").body
    return isinstance(value, ast.Constant) and value.value is not ...


def _is_filled_in(project: Project, field: str) -> bool:
    """True if a file of the project sets an attribute of this name."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == field
        and isinstance(node.ctx, ast.Store)
        for syntax in project.files.values()
        for node in syntax.nodes
    )


def _is_of_scenario(syntax: Syntax, value: ast.expr) -> bool:
    made = made_from(syntax, "episode", [value])
    return any(isinstance(each, ast.Name) and each.id == "scenario" for each in made)
