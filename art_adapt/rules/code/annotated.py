"""Tell how a value is annotated: itself, or what it certainly comes from."""

from __future__ import annotations

import ast

from art_adapt.code.nodes import unquoted
from art_adapt.rules.code.flow import Flow
from art_adapt.rules.code.values import Value

DEEPEST = 6  # expressions, each of which the one before comes from


def annotation(flow: Flow, value: Value) -> str:
    """Return how a value is annotated, as it is spelled; "" if it is not.

    A parameter, a field of a class that is annotated, the result of a function, an element
    of a list of such, and a name for one of these.
    """
    found = _annotation(flow, value, DEEPEST)
    return "" if found is None else ast.unparse(found)


def is_group(flow: Flow, value: Value) -> bool:
    """Return whether a value is annotated as a group: the parameter of an ``after_each``."""
    kind = annotation(flow, value).strip("'\"")
    return kind.rpartition(".")[2] == "TrajectoryGroup"


def _annotation(flow: Flow, value: Value, deepest: int) -> ast.expr | None:
    node, syntax = value.node, value.syntax
    found: ast.expr | None = None
    if isinstance(node, ast.Name):
        found = next(iter(syntax.annotations_of(node)), None)
    elif isinstance(node, ast.Call):
        body = flow.functions.enter(value)
        found = None if body is None else body.function.node.returns
    elif isinstance(node, ast.Attribute) and deepest:
        owner = _annotation(flow, value.of(node.value), deepest - 1)
        if owner is not None:
            found = flow.functions.field_type(syntax, unquoted(owner), node.attr)
    if found is not None:
        return found
    return _of_origin(flow, value, deepest) if deepest else None


def _of_origin(flow: Flow, value: Value, deepest: int) -> ast.expr | None:
    """Return how what an expression certainly comes from is annotated."""
    node = value.node
    if isinstance(node, ast.Subscript) and _is_any(node.slice):
        many = _annotation(flow, value.of(node.value), deepest - 1)
        match many and unquoted(many):
            case ast.Subscript(slice=ast.Name() | ast.Attribute() as element):
                return element
        return None
    steps = list(flow.steps(value))
    alone = len(steps) == 1 and steps[0] != value
    return _annotation(flow, steps[0], deepest - 1) if alone else None


def _is_any(index: ast.expr) -> bool:
    """Return whether an index is that of some element, as a loop goes through them."""
    return isinstance(index, ast.Constant) and index.value is ...
