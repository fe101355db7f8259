"""Finds where a completion is made by another name: ``ask = client.chat.completions.create``."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from art_adapt.code.classes import FunctionKey
from art_adapt.code.given import is_parameter
from art_adapt.code.project import Project
from art_adapt.code.syntax import MODULE_LEVEL
from art_adapt.code.values import steps
from art_adapt.survey.calls.completion_calls import FoundCall

Use = tuple[FunctionKey, ast.expr]


def uses_of(project: Project, calls: Iterable[FoundCall]) -> dict[FoundCall, list[Use]]:
    """Return the functions that call what a referenced callee is kept as, and where.

    It is kept in a name of its module, which other files may import, or in an attribute of
    an object; in a partial, too.
    """
    kept = {call.callee: call for call in calls if call.referenced}
    found: dict[FoundCall, list[Use]] = {call: [] for call in calls}
    for path, place in project.files.items() if kept else ():
        for node in place.nodes:
            if not isinstance(node, ast.Call) or is_parameter(place, node.func):
                continue
            key = (path, place.owner(node))
            for _, value in steps(project, place, node.func):
                call = next((kept[n] for n in ast.walk(value) if n in kept), None)
                if call is not None and key[1] not in (MODULE_LEVEL, call.function):
                    found[call].append((key, node.func))
    return found
