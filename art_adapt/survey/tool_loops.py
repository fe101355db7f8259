"""Finds the loop around a completion call, and how the tools that the model asks for
are run.
"""

from __future__ import annotations

import ast

from art_adapt.survey.call_graph import CallGraph, FunctionKey
from art_adapt.survey.model import ToolExecution, ToolLoop
from art_adapt.survey.project import Project
from art_adapt.survey.syntax import Syntax, dotted

NOT_TOOLS = {
    "print",
    "append",
    "info",
    "debug",
    "log",
    "warning",
    "str",
    "format",
    "len",
}


def find_tool_loop(
    project: Project, graph: CallGraph, syntax: Syntax, call: ast.expr, depth: int = 0
) -> ToolLoop | None:
    """The innermost loop around ``call``, in its own function or in one that calls it
    (three calls up at most).
    """
    if (loop := syntax.enclosing_loop(call)) is not None:
        return ToolLoop(
            syntax.place(loop), _header(syntax, loop), _turn_limit(syntax, loop)
        )
    if depth == 3:
        return None
    key: FunctionKey = (syntax.source.path, syntax.owner(call))
    for caller in graph.callers(key):
        for site in graph.sites[caller, key]:
            if (
                found := find_tool_loop(
                    project, graph, project.files[caller[0]], site, depth + 1
                )
            ) is not None:
                return found
    return None


def _header(syntax: Syntax, loop: ast.For | ast.AsyncFor | ast.While) -> str:
    if isinstance(loop, ast.While):
        return f"while {syntax.text(loop.test)}"
    return f"for {syntax.text(loop.target)} in {syntax.text(loop.iter)}"


def _turn_limit(syntax: Syntax, loop: ast.For | ast.AsyncFor | ast.While) -> str | None:
    """The expression that bounds the turns, None where only the model ends the loop."""
    if isinstance(loop, ast.While):
        for node in ast.walk(loop.test):
            if isinstance(node, ast.Compare) and isinstance(
                node.ops[0], ast.Lt | ast.LtE
            ):
                return syntax.text(node.comparators[0])
            if isinstance(node, ast.Compare) and isinstance(
                node.ops[0], ast.Gt | ast.GtE
            ):
                return syntax.text(node.left)
        return None
    if (
        isinstance(loop.iter, ast.Call)
        and dotted(loop.iter.func) in ("range", "trange")
        and loop.iter.args
    ):
        return syntax.text(loop.iter.args[min(1, len(loop.iter.args) - 1)])
    return f"the length of {syntax.text(loop.iter)}"


def find_tool_execution(syntax: Syntax) -> ToolExecution | None:
    """How a tool is found by the name that the model gave: a registry, a chain of ifs,
    getattr.
    """
    for node in syntax.nodes:
        if isinstance(node, ast.expr) and (how := _execution(node, syntax)) is not None:
            return ToolExecution(syntax.place(node), how)
    return None


def _execution(node: ast.expr, syntax: Syntax) -> str | None:
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        found = _is_tool_name(node.slice, syntax)
        return f"looked up in {syntax.text(node.value)}" if found else None
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
        found = _is_tool_name(node.left, syntax)
        return "chosen by comparing the name" if found else None
    if not isinstance(node, ast.Call):
        return None
    names = [argument for argument in node.args if _is_tool_name(argument, syntax)]
    function = dotted(node.func) or ""
    if not names or function.split(".")[-1] in NOT_TOOLS:
        return None
    if function == "getattr":
        return f"an attribute of {syntax.text(node.args[0])}"
    if isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        return f"looked up in {syntax.text(node.func.value)}"
    return f"handed to {syntax.text(node.func)}"


def _is_tool_name(expression: ast.expr, syntax: Syntax, depth: int = 0) -> bool:
    """``call.function.name``, an item's ``name`` where Responses come with function
    calls, or a name that holds one.
    """
    name = dotted(expression) or ""
    if name.endswith(".function.name"):
        return True
    if name.endswith(".name") and b'"function_call"' in syntax.source.data:
        return True
    if depth or not isinstance(expression, ast.Name):
        return False
    return any(
        _is_tool_name(value, syntax, 1) for value in syntax.values_of(expression)
    )
