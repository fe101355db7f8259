"""Finds semaphores of a module or class, which let few of all episodes through at a time."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import keyword, receiver
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
SIZES = ("value", "initial_value", "total_tokens")


def used_limits(syntax: Syntax) -> Iterator[tuple[str, Effect]]:
    """Find where functions wait for a semaphore that other episodes wait for as well."""
    for node in syntax.nodes:
        if isinstance(node, ast.withitem):
            taken: ast.expr | None = node.context_expr
        else:
            taken = receiver(node, "acquire")
        if taken is None or (owner := syntax.owner(taken)) == MODULE_LEVEL:
            continue
        if (most := _limit(syntax, taken, owner)) is not None:
            what = f"{syntax.text(taken, 40)} of {most}"
            yield owner, Effect(syntax.place(taken), Harm.LIMITS, what)


def _limit(syntax: Syntax, taken: ast.expr, owner: str) -> str | None:
    """Return how many a semaphore that outlives its function lets through, as it is written."""
    for made in _kept(syntax, taken, owner):
        if isinstance(made, ast.Call) and syntax.qualified(made.func) in SEMAPHORES:
            given = (*made.args[:1], *(keyword(made, name) for name in SIZES))
            sizes = [syntax.text(size, 30) for size in given if size is not None]
            return sizes[0] if sizes else "1"
    return None


def _kept(syntax: Syntax, taken: ast.expr, owner: str) -> list[ast.expr]:
    """Return the values of a name or attribute that its module or class keeps."""
    if isinstance(taken, ast.Name):
        is_own = syntax.is_local(taken.id, owner)
        return [] if is_own else syntax.values_of(taken)
    if not isinstance(taken, ast.Attribute):
        return []
    around = syntax.class_around(owner)
    assigned = syntax.assignments.get(taken.attr, ())
    of_class = [value for where, value in assigned if where == around]
    # What a method assigns to its object may be new in each episode.
    values = of_class or syntax.values_of(taken)
    return [each for each in values if syntax.owner(each) == MODULE_LEVEL]
