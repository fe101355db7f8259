"""Tells from what a terminal is asked for whether it is a key, which no scenario may hold."""

from __future__ import annotations

import ast
from collections.abc import Collection

from art_adapt.code.nodes import assignment, last_name
from art_adapt.code.syntax import Syntax
from art_adapt.survey.side_effects.effects import effects_at
from art_adapt.survey.side_effects.harm import Harm
from art_adapt.words import KEY_TYPED


def asks_for_keys_only(syntax: Syntax, functions: Collection[str]) -> bool:
    """True if all that some functions wait for at a terminal are keys, passwords and the like."""
    asked = [
        node
        for node in syntax.nodes
        if isinstance(node, ast.Call | ast.For)
        and syntax.runs_in(node) in functions
        and any(each.harm is Harm.ASKS for each in effects_at(syntax, node))
    ]
    return bool(asked) and all(_asks_for_a_key(syntax, each) for each in asked)


def _asks_for_a_key(syntax: Syntax, asking: ast.Call | ast.For) -> bool:
    if not isinstance(asking, ast.Call):
        return False
    said = [*asking.args, *assignment(syntax.parents[asking])[0]]
    return last_name(asking.func) == "getpass" or any(
        KEY_TYPED.search(ast.unparse(each)) for each in said
    )
