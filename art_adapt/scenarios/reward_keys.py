"""Finds the keys that a reward function reads of a scenario: ``scenario.expected``."""

from __future__ import annotations

import ast
from pathlib import Path

from art_adapt.code.classes import FunctionKey
from art_adapt.code.nodes import last_name
from art_adapt.code.project import Project
from art_adapt.code.resolution import resolve
from art_adapt.paths import at
from art_adapt.source import read_source


def keys_of_reward(module: Path) -> dict[str, str]:
    """Return the keys without which the reward of a train module raises, each with its place.

    What stands in a ``try``, or is asked for with ``getattr``, does not count.

    Raises:
        Refusal: the train module cannot be read.
    """
    source = read_source(module)
    project = Project.of([source], {})
    syntax = project.files[source.path]
    calls = (node for node in syntax.nodes if isinstance(node, ast.Call))
    scored = [c.args[0] for c in calls if last_name(c.func) == "scored" and c.args]
    found: dict[str, str] = {}
    for score in scored:
        for key in resolve(project, syntax, score):
            found |= _read_by(project, key)
    return found


def _read_by(project: Project, key: FunctionKey) -> dict[str, str]:
    syntax = project.files[key[0]]
    function = syntax.functions[key[1]]
    if len(function.positional) != 2:
        return {}
    scenario = function.positional[1]
    return {
        node.attr: f"{function.qualname} ({at(syntax.place(node))})"
        for node in syntax.owned_by(function.qualname)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == scenario
        and not _is_called(syntax.parents[node], node)
        and not any(isinstance(each, ast.Try) for each in syntax.ancestors(node))
    }


def _is_called(around: ast.AST, node: ast.expr) -> bool:
    """True for a method: ``scenario.model_dump()``."""
    return isinstance(around, ast.Call) and around.func is node
