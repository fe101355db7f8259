"""Tell what a rollout makes of a failure: an answer of its own, or the end of the episode."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from art_adapt.code.dependence import made_from
from art_adapt.code.nodes import (
    Function,
    bound_names,
    dotted,
    given_to,
    keyword,
    last_name,
)
from art_adapt.code.syntax import Syntax
from art_adapt.rules.code.blocks import below
from art_adapt.rules.code.handlers import BROAD, Handler

if TYPE_CHECKING:
    from art_adapt.rules.code import Code

# Functions that run coroutines side by side.
GATHERS = (
    "asyncio.gather",
    "tqdm.asyncio.tqdm.gather",
    "tqdm.asyncio.tqdm_asyncio.gather",
    "tqdm.tqdm_asyncio.gather",
)


def statements_after(
    code: Code, function: ast.AST, statement: ast.stmt
) -> list[ast.stmt]:
    """Return the statements that follow one, in its block and in those around it."""
    found: list[ast.stmt] = []
    for outer in (statement, *code.syntax.ancestors(statement)):
        if outer is function:
            break
        found += code.blocks.after(outer)
    return found


def speaks_for_the_model(code: Code, handler: Handler, nodes: list[ast.AST]) -> bool:
    """Return whether a handler puts an answer on the trajectory that no model gave.

    The trajectory is returned with it, so that is what a judge reads.
    """
    if not handler.body:
        return False
    function = code.function_of(handler.statement)
    last = handler.body[-1]
    loop = code.syntax.enclosing_loop(handler.statement)
    if function is None or (
        loop is not None and not isinstance(last, ast.Return | ast.Break)
    ):
        return False
    later = (
        []
        if isinstance(last, ast.Return)
        else statements_after(code, function.node, handler.statement)
    )
    reached = [*below([last]), *below(later)]
    returned = [n.value for n in reached if isinstance(n, ast.Return) and n.value]
    changed = {
        dotted(target)
        for node in nodes
        if isinstance(node, ast.Assign)
        for target in node.targets
    }
    spoken_on = set(_spoken_on(code, nodes)) - changed
    raises = any(isinstance(node, ast.Raise) for node in reached)
    return bool(returned) and not raises and {*map(dotted, returned)} <= spoken_on


def _spoken_on(code: Code, nodes: list[ast.AST]) -> Iterator[str | None]:
    """Yield the trajectories that some code adds an assistant's message of its own to."""
    for put in code.trajectories.puts:
        roles = code.contents.item(put.value, "role").values
        if put.by in nodes and any(
            code.constant(role.node) == "assistant" for role in roles
        ):
            match put.by:
                case ast.Call(func=ast.Attribute(value=ast.Attribute(value=owner))):
                    yield dotted(owner)


def is_taken_for_the_end(code: Code, helper: str) -> bool:
    """Return whether a rollout ends its episode where this helper returns None."""
    function = code.syntax.functions[helper]
    for call in code.flow.functions.calls_of(code.syntax, function):
        if code.syntax.owner(call) not in code.trajectories.rollouts:
            continue
        statement = next(
            node for node in code.syntax.ancestors(call) if isinstance(node, ast.stmt)
        )
        if not isinstance(statement, ast.Assign):
            continue
        names = list(bound_names(statement.targets))
        for after in code.blocks.after(statement)[:2]:
            if (
                isinstance(after, ast.If)
                and any(_is_missing(after.test, name) for name in names)
                and isinstance(after.body[-1], ast.Return | ast.Break | ast.Continue)
            ):
                end = after.body[-1]
                value = end.value if isinstance(end, ast.Return) else None
                return not isinstance(end, ast.Return) or (
                    value is not None and code.trajectories.is_one(value)
                )
    return False


def _is_missing(test: ast.expr, name: str | None) -> bool:
    """Return whether a test asks whether a name is None or empty."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return dotted(test.operand) == name
    return (
        isinstance(test, ast.Compare)
        and dotted(test.left) == name
        and isinstance(test.ops[0], ast.Is)
    )


def catches_all(function: Function) -> bool:
    """Return whether a function is one ``try`` whose handlers take every error and raise none."""
    body = function.node.body[ast.get_docstring(function.node) is not None :]
    if (
        len(body) != 1
        or not isinstance(body[0], ast.Try)
        or body[0].orelse
        or body[0].finalbody
    ):
        return False
    handlers = body[0].handlers
    raises = any(isinstance(n, ast.Raise) for h in handlers for n in ast.walk(h))
    every = any(h.type is None or last_name(h.type) in BROAD for h in handlers)
    return every and not raises


def keeps_failures(syntax: Syntax, function: Function) -> bool:
    """Return whether a function makes a group of what it gathers with all exceptions."""
    calls = [n for n in syntax.owned_by(function.qualname) if isinstance(n, ast.Call)]
    keeping = {
        call
        for call in calls
        if syntax.qualified(call.func) in GATHERS
        and isinstance(given := keyword(call, "return_exceptions"), ast.Constant)
        and given.value is True
    }
    grouped = [call for call in calls if last_name(call.func) == "TrajectoryGroup"]
    return bool(grouped) and all(
        not keeping.isdisjoint(made_from(syntax, function.qualname, given_to(call)))
        for call in grouped
    )
