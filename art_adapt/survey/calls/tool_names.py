"""Tells what reads the name of a requested tool, and what it chooses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.calls import KINDS
from art_adapt.code.nodes import dotted, last_name
from art_adapt.code.syntax import Syntax
from art_adapt.survey.calls.requested_calls import spelled
from art_adapt.words import TOOL_DEFINITIONS, TOOL_NAME_KEYS


def is_of_a_tool(syntax: Syntax, node: ast.AST) -> bool:
    """True if code stands in a branch that the name of a requested tool chooses.

    A branch that returns answers the user rather than the tool's call, and what is left for
    any other name goes on with the conversation.
    """
    branch = branch_of_a_tool(syntax, node)
    if branch is None:
        return False
    inside = (each for statement in branch.body for each in ast.walk(statement))
    return not any(isinstance(each, ast.Return) for each in inside)


def branch_of_a_tool(syntax: Syntax, node: ast.AST) -> ast.match_case | ast.If | None:
    """Return the innermost branch around ``node`` that the name of a requested tool chooses."""
    endings = endings_of(syntax)
    inner = node
    for outer in syntax.ancestors(node):
        chosen: ast.expr | None = None
        match outer:
            case ast.match_case(pattern=pattern):
                around = syntax.parents[outer]
                is_any = isinstance(pattern, ast.MatchAs) and pattern.pattern is None
                if isinstance(around, ast.Match) and not is_any:
                    chosen = around.subject
            case ast.If(test=ast.Compare(left=left, ops=[ast.Eq()]), body=branch):
                chosen = left if inner in branch else None
        if chosen is not None and is_tool_name(chosen, syntax, endings):
            assert isinstance(outer, ast.match_case | ast.If)
            return outer
        inner = outer
    return None


def first_branch(syntax: Syntax, branch: ast.match_case | ast.If) -> ast.expr:
    """Return what the first branch of an ``if`` or ``match`` looks at."""
    around = syntax.parents[branch]
    if isinstance(branch, ast.match_case):
        assert isinstance(around, ast.Match)
        return around.subject
    while isinstance(around, ast.If) and around.orelse == [branch]:
        branch, around = around, syntax.parents[around]
    return branch.test


def is_tool_name(
    expression: ast.expr, syntax: Syntax, endings: tuple[str, ...]
) -> bool:
    """True if an expression is the name of a requested tool, or a variable with it."""
    values = [expression]
    if isinstance(expression, ast.Name):
        values = syntax.values_of(expression)
    return any(
        (
            any(each.endswith(endings) for each in _spellings(value, syntax))
            and not _is_of_definition(value, syntax)
        )
        or _is_parsed_name(value, syntax)
        for value in values
    )


def _spellings(value: ast.expr, syntax: Syntax) -> Iterator[str]:
    """Yield how a value is spelled, also with what its name stands for: ``function.name``."""
    yield spelled(value)
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        for owner in syntax.values_of(value.value):
            yield f"{spelled(owner)}.{value.attr}"


def _is_of_definition(value: ast.expr, syntax: Syntax) -> bool:
    """True if a name is a tool's own, in its schema: ``for tool in tools``."""
    root = spelled(value).partition(".")[0]
    sources = syntax.origins(syntax.owner(value), root)
    return any(
        TOOL_DEFINITIONS.search(dotted(each) or "")
        for source in sources
        for each in (source, *(source.args if isinstance(source, ast.Call) else ()))
    )


def _is_parsed_name(value: ast.expr, syntax: Syntax) -> bool:
    """True if a value is ``request["name"]`` of what was parsed from the model's text."""
    return (
        isinstance(value, ast.Subscript)
        and isinstance(value.slice, ast.Constant)
        and value.slice.value in TOOL_NAME_KEYS
        and any(
            isinstance(each, ast.Call) and last_name(each.func) == "loads"
            for each in syntax.values_of(value.value)
        )
    )


def endings_of(syntax: Syntax) -> tuple[str, ...]:
    """Return the attributes by which a file may read the name of a requested tool."""
    text = syntax.source.text
    return tuple(
        f".{name}"
        for kind in KINDS
        if not kind.tool_words or any(word in text for word in kind.tool_words)
        for name in kind.tool_names
    )
