"""Finds what an agent could be given by a scenario, and keeps at its default instead."""

from __future__ import annotations

import ast
from pathlib import Path

from art_adapt.code.nodes import argument_of, defaults_of
from art_adapt.code.project import Project
from art_adapt.code.resolution import resolve
from art_adapt.paths import at
from art_adapt.source import read_source


def unpassed(module: Path) -> dict[str, str]:
    """Return the parameters with a default that ``episode()`` passes to none of its calls.

    Each with the function that has it, and where that is. A row's key of that name looks as
    if it reached the agent.

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
            passed.update(each.arg for each in call.keywords)
            place = project.files[path]
            function = place.functions[name]
            where = f"{name} ({at(place.place(function.node))})"
            for parameter, _ in defaults_of(function.node):
                if argument_of(call, parameter, function.positional) is None:
                    found.setdefault(parameter, where)
                else:
                    passed.add(parameter)
    if None in passed:  # a dict's keys are not told apart here
        return {}
    return {name: where for name, where in found.items() if name not in passed}
