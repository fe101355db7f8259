"""Finds the keys that a reward function reads of a scenario: ``scenario.expected``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from art_adapt.code.nodes import last_name
from art_adapt.code.project import Project
from art_adapt.code.resolution import resolve
from art_adapt.code.syntax import Syntax
from art_adapt.paths import at
from art_adapt.source import read_source

T = TypeVar("T")


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
        for path, name in resolve(project, syntax, score):
            found |= keys_read(project.files[path], name)
    return found


@dataclass(frozen=True)
class Lacking:
    """A key that the reward reads and some rows do not have: what that does, and what to do."""

    key: str
    what: str
    fix: str


def lacking_keys(
    module: Path, rows: Sequence[T], has: Callable[[T, str], bool]
) -> Iterator[Lacking]:
    """Yield the keys that the reward of a train module reads and not all ``rows`` have.

    ``has`` tells whether a row has a key.

    Raises:
        Refusal: the train module cannot be read.
    """
    for key, place in keys_of_reward(module).items() if rows else ():
        if count := sum(not has(row, key) for row in rows):
            yield Lacking(
                key,
                f"{count} of {len(rows)} rows have no {key}, which {place} reads: their episodes "
                "are lost, and training stops if more than one in five are",
                f"add {key} to these rows, or remove them; art-adapt scenarios names each",
            )


def keys_read(syntax: Syntax, name: str) -> dict[str, str]:
    """Return the keys of a scenario without which a reward function raises, each with its place."""
    function = syntax.functions[name]
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
