"""Finds the handlers of web applications that only a request can call.

A handler that takes a question is a function like any other. One that reads Flask's
``request``, or asks for FastAPI's ``Request`` or dependencies, is sent a request.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from art_adapt.code.nodes import Function, dotted, last_name
from art_adapt.code.project import Project
from art_adapt.code.syntax import Syntax
from art_adapt.survey.inputs.parameters import record_fields
from art_adapt.survey.inputs.route_decorators import routes_of
from art_adapt.survey.model import EntryPoint, Parameter

STREAMING = ("StreamingResponse", "EventSourceResponse")
LISTS = re.compile(r"(typing\.)?(list|List|tuple|Tuple|set|Set|Sequence|Iterable)\b")
# Parameters that the framework fills in.
GIVEN = ("Request", "Response", "BackgroundTasks", "WebSocket", "HTTPConnection")
# How Flask's and Starlette's requests are read, and how httpx sends what is read.
READ = {
    "get_json": "json",
    "json": "json",
    "form": "data",
    "args": "params",
    "values": "params",
    "query_params": "params",
}


def with_route(project: Project, syntax: Syntax, entry: EntryPoint) -> EntryPoint:
    """Say how a handler that cannot be called as a function is sent a request."""
    function = syntax.functions[entry.name]
    found = next(iter(routes_of(function)), None)
    if found is None or entry.class_name is not None:
        return entry
    given = [p for p in entry.parameters if _is_given(p)]
    streams = _streams(syntax, function)
    found = replace(found, streams=streams)
    if syntax.imports_module("flask", "quart") is not None:
        encoding, read = _read(syntax, function, "request")
        if encoding:
            route = replace(found, encoding=encoding)
            fields = (*entry.parameters, *read)  # those of its own are in its path
            return replace(entry, route=route, parameters=fields)
    elif given or streams:
        read_in = (_read(syntax, function, p.name) for p in given)
        encoding, read = next((each for each in read_in if each[0]), ("", []))
        sent = (p for p in entry.parameters if p not in given)
        rest = (*(_as_body(project, syntax, p) for p in sent), *read)
        is_form = "Form(" in ast.unparse(function.node.args)
        has_body = any(each.fields is not None for each in rest)
        usual = "data" if is_form else "json" if has_body else "params"
        route = replace(found, encoding=encoding or usual)
        return replace(entry, route=route, parameters=rest)
    return entry


def _as_body(project: Project, syntax: Syntax, parameter: Parameter) -> Parameter:
    """Expand a record of a request's body whose fields hold records: JSON holds those, too."""
    fields = record_fields(project, syntax, parameter.annotation)
    if not parameter.is_object or fields is None:
        return parameter
    plain = tuple(
        replace(each, is_object=False, fields=None, annotation=_json_type(each))
        if each.is_object or each.fields is not None
        else each
        for each in fields
    )
    return replace(parameter, is_object=False, fields=plain)


def _json_type(parameter: Parameter) -> str:
    """Return the type that JSON has for records: a dict, or a list of them."""
    several = LISTS.match(parameter.annotation or "") is not None
    return "list[dict[str, Any]]" if several else "dict[str, Any]"


def _streams(syntax: Syntax, function: Function) -> bool:
    """True if a handler answers event by event, from a generator."""
    return any(
        isinstance(node, ast.Return)
        and isinstance(node.value, ast.Call)
        and last_name(node.value.func) in STREAMING
        for node in syntax.owned_by(function.qualname)
    )


def _is_given(parameter: Parameter) -> bool:
    """True if the framework gives a handler this parameter, and no request holds it.

    A record of the project that is called Request is a body.
    """
    text = parameter.annotation or ""
    is_its_own = text.rpartition(".")[2] in GIVEN and parameter.fields is None
    return is_its_own or "Depends(" in f"{text} {parameter.default}"


def _read(
    syntax: Syntax, function: Function, request: str
) -> tuple[str, list[Parameter]]:
    """Return what a handler reads of the request with this name: how it is sent, and the keys."""
    encoding = ""
    keys: dict[str, Parameter] = {}
    for node in syntax.owned_by(function.qualname):
        if isinstance(node, ast.Attribute) and dotted(node.value) == request:
            encoding = encoding or READ.get(node.attr, "")
        key: ast.expr | None = None
        default: ast.expr | None = None
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            holder, key = node.value, node.slice
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "get"
            and node.args
        ):
            holder, key = node.func.value, node.args[0]
            default = node.args[1] if len(node.args) > 1 else None
        if (
            isinstance(key, ast.Constant)
            and isinstance(key.value, str)
            and key.value.isidentifier()
            and _is_request(syntax, holder, request)
            and (default is None or _is_empty(default))
        ):
            keys.setdefault(key.value, Parameter(key.value, None, None))
    return encoding, list(keys.values())


def _is_request(syntax: Syntax, value: ast.expr, request: str) -> bool:
    """True if a value is what a request holds: ``request.json``, or a name for it."""
    values = [value, *syntax.values_of(value)] if dotted(value) else [value]
    return any(
        isinstance(inner, ast.Attribute)
        and dotted(inner.value) == request
        and inner.attr in READ
        for each in values
        for inner in ast.walk(each)
    )


def _is_empty(value: ast.expr) -> bool:
    """True if a default says that the key was left out: None, "", []."""
    if isinstance(value, ast.List | ast.Dict):
        return not (value.elts if isinstance(value, ast.List) else value.keys)
    return isinstance(value, ast.Constant) and value.value in (None, "")
