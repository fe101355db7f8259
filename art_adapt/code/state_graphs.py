"""Finds the functions that a graph of langgraph runs: the nodes that were added to it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.classes import FunctionKey
from art_adapt.code.nodes import dotted, given_to
from art_adapt.code.project import Project
from art_adapt.code.questions import question
from art_adapt.code.resolution import meant_by, referred
from art_adapt.code.syntax import Syntax
from art_adapt.code.values import steps

RUNS = (
    *("invoke", "ainvoke", "stream", "astream", "astream_events", "astream_log"),
    *("batch", "abatch", "batch_as_completed", "abatch_as_completed"),
)
LIBRARY = "langgraph."


def run_by_graph(
    project: Project, syntax: Syntax, node: ast.expr
) -> Iterator[FunctionKey]:
    """Yield the nodes and routers of the graph that ``app.invoke`` runs.

    Source: langgraph 1.2.24, graph/state.py (add_node, add_conditional_edges, compile).
    """
    if isinstance(node, ast.Attribute) and node.attr in RUNS:
        for home, builder in _builders(project, syntax, node.value):
            yield from _added(project, home, builder)


def is_added(project: Project, syntax: Syntax, node: ast.expr) -> bool:
    """True if a function is handed to a graph, which runs it later: ``graph.add_node(plan)``."""
    call = syntax.parents.get(node)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    return node is not call.func and bool(_builders(project, syntax, call.func.value))


@question
def _builders(
    project: Project, syntax: Syntax, value: ast.expr
) -> Iterator[tuple[Syntax, ast.Call]]:
    """Yield the ``StateGraph(...)`` that a graph is compiled from, through what it calls."""
    if isinstance(value, ast.Call):
        if _is_builder(syntax, value):
            yield syntax, value
        elif isinstance(
            value.func, ast.Attribute
        ):  # StateGraph(S).add_node(f).compile()
            yield from _builders(project, syntax, value.func.value)
    for place, each in steps(project, syntax, value):
        yield from _builders(project, place, each)


def _is_builder(syntax: Syntax, call: ast.Call) -> bool:
    name = syntax.qualified(call.func) or ""
    return name.startswith(LIBRARY) and name.endswith("Graph")


def _added(project: Project, home: Syntax, builder: ast.Call) -> Iterator[FunctionKey]:
    """Yield the functions that are handed to methods of a builder: ``graph.add_node("a", a)``."""
    for call in home.nodes:
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and any(each is builder for each in _receivers(home, call.func.value))
        ):
            for given in given_to(call):
                if isinstance(given, ast.Lambda | ast.Call):
                    yield from meant_by(project, home, given)
                elif dotted(given) is not None:
                    yield from referred(project, home, given)


def _receivers(home: Syntax, value: ast.expr) -> Iterator[ast.expr]:
    """Yield what makes the object whose method is called, through calls in a chain."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        yield value
        value = value.func.value
    yield value
    yield from home.values_of(value)
