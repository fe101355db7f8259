"""Reads the decorators by which a web application calls a function for a request."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import Function, dotted, keyword
from art_adapt.survey.model import Route

METHODS = {
    "get": "GET",
    "post": "POST",
    "put": "PUT",
    "route": "GET",
    "api_route": "GET",
}


def routes_of(function: Function) -> Iterator[Route]:
    """Yield the routes of a function: ``@app.post("/ask")``."""
    for decorator in function.node.decorator_list:
        if not isinstance(decorator, ast.Call) or not decorator.args:
            continue
        application, _, name = (dotted(decorator.func) or "").rpartition(".")
        path = decorator.args[0]
        if (
            name in METHODS
            and application.isidentifier()
            and isinstance(path, ast.Constant)
            and isinstance(path.value, str)
        ):
            given = keyword(decorator, "methods")
            methods = [METHODS[name]]
            if isinstance(given, ast.List | ast.Tuple | ast.Set):
                named = (each for each in given.elts if isinstance(each, ast.Constant))
                methods = [str(each.value).upper() for each in named] or methods
            method = "POST" if "POST" in methods else methods[0]
            yield Route(application, method, path.value, "json")
