"""Finds what a project sets in its modules before it runs its agent: ``settings.mode = "fast"``.

A ``main()`` shows it: the agent reads it, and nothing hands it on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from art_adapt.code.importable import module_at, runs_when_imported
from art_adapt.code.nodes import FunctionNode, dotted
from art_adapt.code.project import Project
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.survey.inputs.slice_text import Slice
from art_adapt.survey.inputs.slices import constructed_by, take
from art_adapt.survey.making.call_ranks import DEMOS, Site, ordered
from art_adapt.survey.model import Construction


def set_before(
    project: Project, agent: Syntax, calls: Sequence[Site]
) -> tuple[Construction, ...]:
    """Return how the function of the best call sets what modules of the project hold.

    It happens once, before all episodes. What depends on the run itself, as on its command line, is
    left out.
    """
    for place, call in ordered(project, agent, list(calls), DEMOS - 1)[:1]:
        found = (
            _taken_over(project, agent, place, each)
            for each in _before(place, call)
            if _is_of_a_module(project, place, each.targets[0])
        )
        return tuple(each for each in found if each is not None)
    return ()


def _before(place: Syntax, call: ast.Call) -> Iterator[ast.Assign]:
    """Yield the statements of a function, before it makes a call, that set one attribute."""
    for node in place.owned_by(place.owner(call)):
        if (
            isinstance(node, ast.Assign)
            and isinstance(place.parents[node], FunctionNode)
            and len(node.targets) == 1
            and isinstance(node.targets[0], ast.Attribute)
            and node.lineno < call.lineno
        ):
            yield node


def _is_of_a_module(project: Project, place: Syntax, target: ast.expr) -> bool:
    """True for an attribute of a module of the project, or of an object that one holds."""
    head = (dotted(target) or "").partition(".")[0]
    if head in place.imports:
        module = isinstance(project.imported(place, head), Syntax)
        return module or bool(project.variable(place, head)[1])
    return bool(place.values_at_top(head)) and not place.is_local(
        head, place.owner(target)
    )


def _taken_over(
    project: Project, agent: Syntax, place: Syntax, statement: ast.Assign
) -> Construction | None:
    if place.owner(statement) == MODULE_LEVEL:
        return None
    runs = place is not agent and runs_when_imported(place)
    module = None if runs else module_at(project, agent, place.source.path)
    taken = Slice(project, agent, statements=[statement])
    if not take(place, module, statement, taken) or taken.supplied:
        return None
    taken.once.update(taken.statements)
    return constructed_by(place, taken.statements, taken, None)
