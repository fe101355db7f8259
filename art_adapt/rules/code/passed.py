"""Find the functions of a file that are passed to others: by decorators, or as arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable

from art_adapt.code.nodes import Function, argument_of
from art_adapt.code.syntax import Syntax

# The functions that a parameter is given, by its function and name; None is any other value.
Passed = dict[tuple[str, str], list[Function | None]]
Resolve = Callable[[Syntax, ast.expr], Function | None]


def passed_functions(syntax: Syntax, resolve: Resolve) -> Passed:
    """Map the parameters of a file's functions to the functions that they are given."""
    found: Passed = {}
    for function in syntax.functions.values():
        for decorator in function.node.decorator_list:
            taker = _decorating(syntax, decorator, resolve)
            if taker is not None and taker.given:
                found.setdefault((taker.qualname, taker.given[0]), []).append(function)
    for node in syntax.nodes:
        if not isinstance(node, ast.Call):
            continue
        called = resolve(syntax, node.func)
        for name in () if called is None else called.given:
            given = argument_of(node, name, called.positional) if called else None
            if called is not None and given is not None:
                key = called.qualname, name
                found.setdefault(key, []).append(resolve(syntax, given))
    return found


def _decorating(
    syntax: Syntax, decorator: ast.expr, resolve: Resolve
) -> Function | None:
    """Return the function of the file that gets what is decorated.

    For ``@again(3)`` that is the function that ``again`` returns.
    """
    if not isinstance(decorator, ast.Call):
        return resolve(syntax, decorator)
    made = resolve(syntax, decorator.func)
    for node in () if made is None else syntax.owned_by(made.qualname):
        if isinstance(node, ast.Return) and node.value is not None:
            inner = resolve(syntax, node.value)
            if inner is not None:
                return inner
    return None
