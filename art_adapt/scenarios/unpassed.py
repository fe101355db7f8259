"""Finds what an agent could be given by a scenario, and is given the same in every episode."""

from __future__ import annotations

import ast
from pathlib import Path

from art_adapt.code.dependence import made_from
from art_adapt.code.nodes import argument_of
from art_adapt.code.project import Project
from art_adapt.code.resolution import resolve
from art_adapt.code.syntax import Syntax
from art_adapt.paths import at
from art_adapt.source import read_source


def unpassed(module: Path) -> dict[str, str]:
    """Return the parameters for which ``episode()`` passes nothing of the scenario.

    They keep their default, or what ``episode()`` says for all. Each with the function that
    has it, and where that is: a row's key of that name looks as if it reached the agent.

    Raises:
        Refusal: the train module cannot be read.
    """
    source = read_source(module)
    project = Project.of([source], {})
    syntax = project.files[source.path]
    found: dict[str, str] = {}
    passed: set[str | None] = set()
    calls = [n for n in syntax.owned_by("episode") if isinstance(n, ast.Call)]
    for call in calls:
        for path, name in resolve(project, syntax, call.func):
            place = project.files[path]
            function = place.functions[name]
            where = f"{name} ({at(place.place(function.node))})"
            for parameter in function.given:
                value = argument_of(call, parameter, function.positional)
                if value is not None and _is_of_scenario(syntax, value):
                    passed.add(parameter)
                else:
                    found.setdefault(parameter, where)
            passed.update(None for each in call.keywords if each.arg is None)
    if None in passed:  # a dict's keys are not told apart here
        return {}
    return {name: where for name, where in found.items() if name not in passed}


def _is_of_scenario(syntax: Syntax, value: ast.expr) -> bool:
    made = made_from(syntax, "episode", [value])
    return any(isinstance(each, ast.Name) and each.id == "scenario" for each in made)
