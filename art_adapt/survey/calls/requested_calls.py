"""Reads a call that an agent makes with what the model requested."""

from __future__ import annotations

import ast

from art_adapt.code.nodes import called_name, dotted, last_name
from art_adapt.words import (
    NO_TOOLS,
    OWN_SETTINGS,
    RUNS_NO_TOOL,
    RUNS_TOOL,
    TOOL_ARGUMENTS,
    TOOL_NAMES,
)

CERTAIN = 3  # the likeness of a call that runs a tool, beyond doubt


def given(call: ast.Call) -> list[ast.expr]:
    """Return what a call is given, by position and by name."""
    return [*call.args, *(k.value for k in call.keywords if k.arg is not None)]


def is_no_tool(call: ast.Call) -> bool:
    """True if a call makes an object, or is of Python's own: neither is a tool."""
    name = (dotted(call.func) or "").split(".")[-1]
    return name in NO_TOOLS or name[:1].isupper()


def likeness(call: ast.Call) -> int:
    """Return how much a call looks like one that runs a tool.

    Running one takes the request's arguments, a lookup by its name, or a verb that says so.
    """
    name = called_name(call)
    words = [spelled(each).rpartition(".")[2] for each in given(call)]
    spread = [spelled(k.value) for k in call.keywords if k.arg is None]
    return (
        3 * any(not OWN_SETTINGS.search(each) for each in spread)
        + 3 * isinstance(call.func, ast.Subscript)
        + 2 * (RUNS_TOOL.search(name) is not None)
        + any(TOOL_NAMES.search(each) for each in words)
        + 2 * any(TOOL_ARGUMENTS.search(each) for each in words)
        - 6 * (RUNS_NO_TOOL.search(name) is not None)
    )


def spelled(value: ast.expr) -> str:
    """Return a value's path as names: call.function.name for ``call["function"]["name"]``."""
    match value:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=inner, attr=name):
            return f"{spelled(inner)}.{name}"
        case ast.Subscript(value=inner, slice=ast.Constant(value=str(name))):
            return f"{spelled(inner)}.{name}"
        case ast.Call(func=ast.Attribute(value=inner, attr="get"), args=[first, *_]):
            key = str(first.value) if isinstance(first, ast.Constant) else ""
            return f"{spelled(inner)}.{key}"
        case ast.Call(func=function, args=[first, *_]) if (
            last_name(function) == "loads"
        ):
            return spelled(first)
    return ""
