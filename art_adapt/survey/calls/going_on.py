"""Tells whether a loop lets an agent go on that keeps the conversation in itself."""

from __future__ import annotations

import ast
from collections.abc import Collection

from art_adapt.code.definitions import COMPREHENSIONS
from art_adapt.code.nodes import given_to, names_in
from art_adapt.code.syntax import LOOPS, Syntax
from art_adapt.survey.calls.tool_loops import counts_or_waits
from art_adapt.survey.side_effects.effects import asks_a_person


def lets_go_on(
    syntax: Syntax,
    loop: ast.For | ast.AsyncFor | ast.While,
    sites: Collection[ast.AST],
) -> bool:
    """True if a loop lets an agent go on, and tells it nothing new.

    That is ``while not agent.done: agent.step()``, or ``chat.ask("Continue.")``. An agent
    that each turn makes anew begins another conversation. ``sites``: the names of functions
    that lead to a completion call, where they are used.
    """
    bound = {
        node.id
        for node in ast.walk(loop)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return (
        counts_or_waits(loop)
        and not asks_a_person(syntax, loop)
        and any(
            isinstance(site, ast.Attribute)
            and site in sites
            and next(syntax.enclosing_loops(site), None) is loop
            and not is_made_anew(syntax, site)
            and isinstance(call := syntax.parents.get(site), ast.Call)
            and all(_is_the_same(each, bound) for each in given_to(call))
            for site in ast.walk(loop)
        )
    )


def _is_the_same(value: ast.expr, bound: Collection[str]) -> bool:
    """True if a value is the same in each turn of a loop that gives these names another one."""
    return names_in(value).isdisjoint(bound) and not any(
        isinstance(node, ast.Call) for node in ast.walk(value)
    )


def is_made_anew(syntax: Syntax, site: ast.AST) -> bool:
    """True if the object whose method is called is made anew in each turn of a loop."""
    loop = _around(syntax, site)
    if loop is None or not isinstance(site, ast.Attribute):
        return False
    holder = site.value
    made = [holder] if isinstance(holder, ast.Call) else syntax.values_of(holder)
    return bool(made) and all(
        isinstance(each, ast.Call) and _around(syntax, each) is loop for each in made
    )


def _around(syntax: Syntax, node: ast.AST) -> ast.AST | None:
    """Return the loop or comprehension around a node."""
    around = syntax.ancestors(node)
    return next((e for e in around if isinstance(e, (*LOOPS, *COMPREHENSIONS))), None)
