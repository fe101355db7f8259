"""Reads a call that an agent makes with what the model requested."""

from __future__ import annotations

import ast
import re

from art_adapt.code.nodes import dotted, last_name

NOT_TOOLS = {
    "input",
    "print",
    "append",
    "info",
    "debug",
    "log",
    "warning",
    "error",
    "exception",
    "str",
    "format",
    "len",
}
# What only spells a result, or waits for it.
WRAPPERS = frozenset(
    {"str", "repr", "dumps", "loads", "format", "join", "wait_for", "gather", "list"}
    | {"run_until_complete", "model_dump_json", "model_dump", "truncate", "strip"}
    | {"enumerate", "zip", "map", "dict", "getattr", "to_json", "cast", "get", "result"}
    | {"isinstance", "len", "type", "items", "values", "copy", "as_completed"}
    | {"sorted", "keys"}
    | {"json", "read", "decode"}  # of a response
    | {"eval", "literal_eval", "parse_raw", "model_validate_json"}  # of arguments
)
RUNS = re.compile(r"tool|call|execute|invoke|run|dispatch|handle|submit|perform", re.I)
NAMED = re.compile(r"name|tool|call|action|command", re.I)
ARGUMENTS = re.compile(r"^(?!.*kwargs).*((?<!t)arg|input|param|payload)", re.I)
# What only spells a request or a result, asks whether a tool may run, or tells of it.
CONVERTS = re.compile(
    r"^_?(to_|as_|format|convert|serial|normal|extract|ensure|parse|render|map_|persist"
    r"|trunc|sanit|clean|approve|confirm|allow|check|valid|should|is_|has_)"
    r"|_to_|(^|_)(pre|before|after|permission|permit|log|emit|notify|trace)(_|$)",
    re.I,
)
CERTAIN = 3  # the likeness of a call that runs a tool, beyond doubt


def given(call: ast.Call) -> list[ast.expr]:
    """Return what a call is given, by position and by name."""
    return [*call.args, *(k.value for k in call.keywords if k.arg is not None)]


def called(call: ast.Call) -> str:
    """Return the name of what is called, whatever it is an attribute of."""
    function = call.func
    return (
        function.attr if isinstance(function, ast.Attribute) else dotted(function) or ""
    )


def is_no_tool(call: ast.Call) -> bool:
    """True if a call makes an object, or is of Python's own: neither is a tool."""
    name = (dotted(call.func) or "").split(".")[-1]
    return name in NOT_TOOLS or name[:1].isupper()


def likeness(call: ast.Call) -> int:
    """Return how much a call looks like one that runs a tool.

    Running one takes the request's arguments, a lookup by its name, or a verb that says so.
    """
    name = called(call)
    words = [spelled(each).rpartition(".")[2] for each in given(call)]
    spread = [spelled(k.value) for k in call.keywords if k.arg is None]
    return (
        3 * any(not re.search("kwargs|options", each) for each in spread)
        + 3 * isinstance(call.func, ast.Subscript)
        + 2 * (RUNS.search(name) is not None)
        + any(NAMED.search(each) for each in words)
        + 2 * any(ARGUMENTS.search(each) for each in words)
        - 6 * (CONVERTS.search(name) is not None)
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
