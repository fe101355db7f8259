"""Finds the loop around a completion call, and how the requested tools are run."""

from __future__ import annotations

import ast

from art_adapt.survey.apis import KINDS
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
    """Find the innermost loop around ``call``, in its own function or in its callers.

    Callers are followed three calls up.
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
    """The expression that bounds the turns; None where only the model ends the loop."""
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
    """Find how the agent looks up a tool by the name that the model gave."""
    text = syntax.source.text
    endings = tuple(
        f".{name}"
        for kind in KINDS
        if not kind.tool_words or any(word in text for word in kind.tool_words)
        for name in kind.tool_names
    )
    for node in syntax.nodes:
        if isinstance(node, ast.expr):
            how = _execution(node, syntax, endings)
            if how is not None:
                return ToolExecution(syntax.place(node), how)
    return None


def _execution(node: ast.expr, syntax: Syntax, endings: tuple[str, ...]) -> str | None:
    """Describe how ``node`` looks up a tool by its name; None if it does not.

    ``endings``: the attributes by which the name of a requested tool may be read.
    """
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        found = _is_tool_name(node.slice, syntax, endings)
        return f"looked up in {syntax.text(node.value)}" if found else None
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
        found = _is_tool_name(node.left, syntax, endings)
        return "chosen by comparing the name" if found else None
    if not isinstance(node, ast.Call):
        return None
    named = any(_is_tool_name(argument, syntax, endings) for argument in node.args)
    function = dotted(node.func) or ""
    if not named or function.split(".")[-1] in NOT_TOOLS:
        return None
    if function == "getattr":
        return f"an attribute of {syntax.text(node.args[0])}"
    if isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        return f"looked up in {syntax.text(node.func.value)}"
    return f"handed to {syntax.text(node.func)}"


def _is_tool_name(
    expression: ast.expr, syntax: Syntax, endings: tuple[str, ...]
) -> bool:
    """Whether an expression is the name of a requested tool, or a variable with it."""
    values = [expression]
    if isinstance(expression, ast.Name):
        values = syntax.values_of(expression)
    return any((dotted(value) or "").endswith(endings) for value in values)
