"""Finds where an agent looks a requested tool up by its name, or hands on all requested calls."""

from __future__ import annotations

import ast
from collections.abc import Collection

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.nodes import called_name, dotted
from art_adapt.code.syntax import Syntax
from art_adapt.survey.calls.requested_calls import (
    CERTAIN,
    given,
    is_no_tool,
    likeness,
    spelled,
)
from art_adapt.survey.calls.tool_names import endings_of, first_branch, is_tool_name
from art_adapt.survey.model import ToolExecution
from art_adapt.words import (
    NO_TOOLS,
    ONLY_WRAPS,
    RUNS_ALL_TOOLS,
    RUNS_NO_TOOL,
)

BY_MATCHING, BY_COMPARING = (
    "chosen by matching the name",
    "chosen by comparing the name",
)


def find_lookup(syntax: Syntax, run: Collection[str]) -> ToolExecution | None:
    """Find where a file looks a tool up by the name that the model gave."""
    endings = endings_of(syntax)
    for node in syntax.nodes:
        if isinstance(node, ast.Match) and (not run or syntax.owner(node) in run):
            if is_tool_name(node.subject, syntax, endings):
                place = syntax.place(node.subject)
                return ToolExecution(place, BY_MATCHING)
        elif isinstance(node, ast.expr) and (not run or syntax.owner(node) in run):
            found = _execution(node, syntax, endings)
            if found is not None:
                return ToolExecution(syntax.place(node), found)
    return None


def running_all(
    graph: CallGraph, syntax: Syntax, run: Collection[str]
) -> ToolExecution | None:
    """Find what runs all requested calls at once, outside the project, for their replies."""
    for node in syntax.nodes:
        if (
            isinstance(node, ast.Call)
            and (not run or syntax.owner(node) in run)
            and RUNS_ALL_TOOLS.search(called_name(node))
            and not RUNS_NO_TOOL.search(called_name(node))
            and not isinstance(syntax.parents[node], ast.Expr)
            and any(_is_calls(syntax, each) for each in given(node))
            and not any(node.func in sites for sites in graph.sites.values())
        ):
            how = f"handed to {syntax.text(node.func)}"
            return ToolExecution(syntax.place(node), how)
    return None


def _is_calls(syntax: Syntax, value: ast.expr) -> bool:
    """True if a value is ``message.tool_calls``, by this name or another."""
    values = [value, *(syntax.values_of(value) if isinstance(value, ast.Name) else ())]
    return any(spelled(each).endswith("tool_calls") for each in values)


def in_branches(syntax: Syntax, branch: ast.match_case | ast.If) -> ToolExecution:
    """Describe how a call is chosen that stands in a branch of its own."""
    is_match = isinstance(branch, ast.match_case)
    how = BY_MATCHING if is_match else BY_COMPARING
    return ToolExecution(syntax.place(first_branch(syntax, branch)), how)


def how_found(syntax: Syntax, call: ast.Call) -> str:
    """Describe how a call that runs a tool finds it."""
    endings = endings_of(syntax)
    function = call.func
    for node in (call, function, *syntax.values_of(function)):
        found = _execution(node, syntax, endings)
        if found is not None:
            return found
    while isinstance(function, ast.Subscript):
        if not isinstance(function.value, ast.Subscript):
            return f"looked up in {syntax.text(function.value)}"
        function = function.value
    return f"handed to {syntax.text(function)}"


def _execution(node: ast.expr, syntax: Syntax, endings: tuple[str, ...]) -> str | None:
    """Describe how ``node`` looks up a tool by its name; None if it does not.

    ``endings``: the attributes by which the name of a requested tool may be read.
    """
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        found = is_tool_name(node.slice, syntax, endings)
        return f"looked up in {syntax.text(node.value)}" if found else None
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
        found = is_tool_name(node.left, syntax, endings) and _does_more(syntax, node)
        return BY_COMPARING if found else None
    if not isinstance(node, ast.Call):
        return None
    named = any(is_tool_name(argument, syntax, endings) for argument in given(node))
    function = dotted(node.func) or ""
    if not named or is_no_tool(node):
        return None
    if function == "getattr":
        return f"an attribute of {syntax.text(node.args[0])}"
    if isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        return f"looked up in {syntax.text(node.func.value)}"
    if likeness(node) < CERTAIN:
        return None  # its name alone says nothing of its arguments
    return f"handed to {syntax.text(node.func)}"


def _does_more(syntax: Syntax, test: ast.expr) -> bool:
    """True if what stands under a comparison calls more than what reads the request."""
    branch = next(
        (outer for outer in syntax.ancestors(test) if isinstance(outer, ast.stmt)), test
    )
    if not isinstance(branch, ast.If):
        return not isinstance(branch, ast.Assert)
    calls = (
        n for each in branch.body for n in ast.walk(each) if isinstance(n, ast.Call)
    )
    return any(
        called_name(call) not in ONLY_WRAPS | NO_TOOLS
        and not called_name(call)[:1].isupper()
        for call in calls
    )
