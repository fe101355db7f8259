"""Finds semaphores of a module or class, which let few of all episodes through at a time."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import keyword, last_name
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.survey.side_effects.harm import Effect, Harm

SEMAPHORES = (
    "asyncio.Semaphore",
    "asyncio.BoundedSemaphore",
    "threading.Semaphore",
    "threading.BoundedSemaphore",
    "anyio.Semaphore",
    "anyio.CapacityLimiter",
)
TAKES = ("acquire", "__enter__", "__aenter__")
SIZES = ("value", "initial_value", "total_tokens")


def shared_limits(syntax: Syntax, node: ast.AST) -> Iterator[Effect]:
    """Yield the limits that a block or a call takes and other episodes take as well."""
    taken: list[ast.expr] = []
    if isinstance(node, ast.With | ast.AsyncWith):
        taken = [item.context_expr for item in node.items]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        taken = [node.func.value] if last_name(node.func) in TAKES else []
    for each in taken:
        if (most := _limit(syntax, each)) is not None:
            what = f"{syntax.text(each, 40)} of {most}"
            yield Effect(syntax.place(each), Harm.LIMITS, what)


def _limit(syntax: Syntax, taken: ast.expr) -> str | None:
    """Return how many a semaphore that outlives its function lets through, as it is written."""
    owner = syntax.owner(taken)
    if isinstance(taken, ast.Name):
        made = [] if syntax.is_local(taken.id, owner) else syntax.values_of(taken)
    elif isinstance(
        taken, ast.Attribute
    ):  # one in an object may be new in each episode
        around = syntax.class_around(owner)
        own = [
            v for where, v in syntax.assignments.get(taken.attr, ()) if where == around
        ]
        made = [v for v in own or syntax.values_of(taken) if _is_made_once(syntax, v)]
    else:
        return None
    for each in made:
        if isinstance(each, ast.Call) and syntax.qualified(each.func) in SEMAPHORES:
            given = (*each.args[:1], *(keyword(each, name) for name in SIZES))
            sizes = [syntax.text(size, 30) for size in given if size is not None]
            return sizes[0] if sizes else "1"
    return None


def _is_made_once(syntax: Syntax, value: ast.expr) -> bool:
    return syntax.owner(value) == MODULE_LEVEL
