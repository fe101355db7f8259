"""Tells whether a decorator registers the function below it: ``TOOLS[name] = func``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.classes import FunctionKey
from art_adapt.code.given import function_given
from art_adapt.code.nodes import last_name
from art_adapt.code.project import Project
from art_adapt.code.questions import question
from art_adapt.code.syntax import Syntax

# What a decorator calls with the function that it is given, to read or to name it.
NAMING = (
    "wraps",
    "update_wrapper",
    "signature",
    "iscoroutinefunction",
    "get_type_hints",
)


def registers(project: Project, key: FunctionKey, is_made: bool) -> bool:
    """True if a decorator of the project stores the function that it is given, or hands it on.

    ``is_made`` is true for ``@tool("search")``: a function inside it is the decorator.
    """
    syntax = project.home(key[0])
    keeping = _keeping(project, syntax, syntax.functions[key[1]].node)
    return key[1] in (name.rpartition(".")[0] if is_made else name for name in keeping)


@question
def _keeping(project: Project, syntax: Syntax, decorator: ast.AST) -> Iterator[str]:
    """Yield the functions in a decorator, itself included, that store or hand on an argument."""
    for node in ast.walk(decorator):
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            continue
        around = syntax.parents[node]
        call = syntax.parents[around] if isinstance(around, ast.keyword) else around
        given_to = function_given(syntax, node)
        # What a wrapper does with it is done when the function is called.
        if given_to is None or syntax.owner(node) != given_to.qualname:
            continue
        if isinstance(call, ast.Call) and node is not call.func:
            if last_name(call.func) not in NAMING:
                yield given_to.qualname
        elif isinstance(around, ast.Assign) and any(
            isinstance(target, ast.Subscript) for target in around.targets
        ):
            yield given_to.qualname
