"""Tells what shows somebody an answer."""

from __future__ import annotations

import ast
import re

from art_adapt.code.dependence import made_from
from art_adapt.code.nodes import dotted, given_to
from art_adapt.code.syntax import Syntax
from art_adapt.survey.calls.asking import Asking
from art_adapt.words import REPORTS, SHOWS

WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


def shows(syntax: Syntax, call: ast.Call) -> bool:
    """True if a statement prints, or hands what it is given to something that shows it."""
    name = (dotted(call.func) or "").split(".")[-1]
    if name in ("print", "secho", "echo"):
        return True
    statement = syntax.parents.get(call)
    if isinstance(statement, ast.Await):
        statement = syntax.parents.get(statement)
    words = {word.lower() for word in WORD.findall(name)}
    return (
        isinstance(statement, ast.Expr)
        and not words.isdisjoint(SHOWS)
        and words.isdisjoint(REPORTS)
    )


def shows_a_stage(syntax: Syntax, owner: str, asking: Asking) -> bool:
    """True if a function shows an answer by itself, of which another question is made, too.

    What follows then, such as a suggestion for the next question, is no stage of the answer.
    """
    nodes = list(syntax.owned_by(owner))
    questions = [
        each for each in nodes if isinstance(each, ast.Call) and asking.asks(each.func)
    ]
    for node in nodes:
        if isinstance(node, ast.Call) and shows(syntax, node):
            shown = made_from(syntax, owner, given_to(node))
            for other in questions:
                made = made_from(syntax, owner, given_to(other))
                if other not in shown and not shown.isdisjoint(
                    each for each in questions if each in made
                ):
                    return True
    return False
