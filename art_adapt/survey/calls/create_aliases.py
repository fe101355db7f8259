"""Finds where a completion is made by another name: ``ask = client.chat.completions.create``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.classes import FunctionKey
from art_adapt.code.nodes import dotted
from art_adapt.code.project import Project
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.survey.calls.completion_calls import FoundCall


def uses_of(
    project: Project, call: FoundCall
) -> Iterator[tuple[FunctionKey, ast.expr]]:
    """Yield the functions that call what a referenced callee is kept as, and where.

    It is kept in a name of its module, which other files may import, or in an attribute of
    an object.
    """
    if not call.referenced:
        return
    for name in _kept_as(call):
        owner = call.function.rpartition(".")[0]
        if name.startswith("self.") and owner:
            yield from _called(call.syntax, name, f"{owner}.")
        elif call.function == MODULE_LEVEL:
            yield from _called(call.syntax, name, "")
            for place in project.files.values():
                for local in place.imports:
                    if project.variable_named(place, local) == (call.syntax, name):
                        yield from _called(place, local, "")
                    elif project.imported(place, local) is call.syntax:
                        yield from _called(place, f"{local}.{name}", "")


def _kept_as(call: FoundCall) -> Iterator[str]:
    """Yield the names that the statement around a callee assigns it to, in a partial too."""
    for outer in call.syntax.ancestors(call.callee):
        if isinstance(outer, ast.Assign | ast.AnnAssign):
            targets = outer.targets if isinstance(outer, ast.Assign) else [outer.target]
            yield from (name for name in map(dotted, targets) if name is not None)
        if isinstance(outer, ast.stmt):
            return


def _called(
    syntax: Syntax, name: str, within: str
) -> Iterator[tuple[FunctionKey, ast.expr]]:
    for node in syntax.nodes:
        if isinstance(node, ast.Call) and dotted(node.func) == name:
            owner = syntax.owner(node)
            if owner.startswith(within) and owner != MODULE_LEVEL:
                yield (syntax.source.path, owner), node.func
