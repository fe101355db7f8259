"""Finds caches of what the model said: the next episode answers from them, and asks nothing."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator

from art_adapt.code.dependence import made_from
from art_adapt.code.syntax import Syntax
from art_adapt.survey.side_effects.harm import Effect, Harm
from art_adapt.survey.side_effects.shared_containers import filled_once

DECORATORS = frozenset(
    {
        "functools.cache",
        "functools.lru_cache",
        "cachetools.cached",
        "async_lru.alru_cache",
    }
)
OTHERWISE = "otherwise a rollout gets the answer of an earlier one"


def find_reply_caches(
    syntax: Syntax, functions: Collection[str], asks: Callable[[ast.AST], bool]
) -> Iterator[Effect]:
    """Find where ``functions`` keep what the model said for the next call with the same input.

    That is an entry of a module's dict that is filled once, or ``functools.cache``.
    ``asks``: whether a node is what a completion call, or one that leads to one, calls.
    """
    for change, value in filled_once(syntax) if functions else ():
        owner, own = change.owner, change.of_module
        if owner in functions and any(map(asks, made_from(syntax, owner, [value]))):
            said = f"{change.what}, in which {owner} keeps what the model said,"
            place = syntax.place(value)
            yield Effect(place, Harm.SHARED, said, of_module=own, otherwise=OTHERWISE)
    for name in sorted(syntax.functions.keys() & functions):
        function = syntax.functions[name].node
        for each in function.decorator_list:
            called = each.func if isinstance(each, ast.Call) else each
            if syntax.qualified(called) in DECORATORS and any(
                map(asks, syntax.owned_by(name))
            ):
                said = f"{syntax.text(called)}, with which {name} keeps what the model said,"
                yield Effect(syntax.place(each), Harm.SHARED, said, otherwise=OTHERWISE)
