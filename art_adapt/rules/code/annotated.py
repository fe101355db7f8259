"""Tell how a value is annotated: itself, or what it certainly comes from."""

from __future__ import annotations

import ast
import re

from art_adapt.rules.code.flow import Flow
from art_adapt.rules.code.functions import Value

DEEPEST = 6  # expressions, each of which the one before comes from


def annotation(flow: Flow, value: Value, deepest: int = DEEPEST) -> str:
    """Return how a value is annotated, as it is spelled; "" if it is not.

    A parameter, a field of a class that is annotated, the result of a function, an element
    of a list of such, and a name for one of these.
    """
    node, syntax = value.node, value.syntax
    found: ast.expr | None = None
    if isinstance(node, ast.Name):
        found = next(iter(syntax.annotations_of(node)), None)
    elif isinstance(node, ast.Call):
        body = flow.functions.enter(value)
        found = None if body is None else body.function.node.returns
    elif isinstance(node, ast.Attribute) and deepest:
        of = annotation(flow, value.of(node.value), deepest - 1).strip("'")
        owner = ast.Name(of, ast.Load())
        found = flow.functions.field_type(syntax, owner, node.attr)
    if found is not None:
        return ast.unparse(found)
    return _of_origin(flow, value, deepest) if deepest else ""


def _of_origin(flow: Flow, value: Value, deepest: int) -> str:
    """Return how what an expression certainly comes from is annotated."""
    node = value.node
    if isinstance(node, ast.Subscript) and _is_any(node.slice):
        of = annotation(flow, value.of(node.value), deepest - 1).strip("'")
        many = re.fullmatch(r"[\w.]+\[([\w.]+)\]", of)
        return "" if many is None else many[1]
    steps = list(flow.steps(value))
    alone = len(steps) == 1 and steps[0] != value
    return annotation(flow, steps[0], deepest - 1) if alone else ""


def _is_any(index: ast.expr) -> bool:
    """Return whether an index is that of some element, as a loop goes through them."""
    return isinstance(index, ast.Constant) and index.value is ...
