"""Tells whether a loop asks the model what it makes of the model's answer before."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection

from art_adapt.code.dependence import made_from
from art_adapt.code.nodes import dotted, given_to
from art_adapt.code.syntax import Syntax
from art_adapt.survey.calls.asking import Asking

STANDARD = sys.stdlib_module_names  # json.dumps is told nothing that json.loads knows


def feeds_back(asking: Asking, syntax: Syntax, owner: str) -> bool:
    """True if a question is made of what it gave before: ``context += said``, in a loop.

    An object may be told it that writes the next question: ``board.play(move)``.
    """
    for node in syntax.owned_by(owner):
        if isinstance(node, ast.Call) and asking.is_site(node.func):
            made = made_from(syntax, owner, given_to(node))
            if node in made or _is_told(syntax, owner, node, made):
                return True
    return False


def _is_told(
    syntax: Syntax, owner: str, question: ast.Call, made: Collection[ast.AST]
) -> bool:
    """True if a method of what writes a question is given the answer, turn by turn."""
    loop = next(syntax.enclosing_loops(question), None)
    writers = {
        dotted(node.func.value)
        for node in made
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if (syntax.qualified(node.func) or "").partition(".")[0] not in STANDARD
    } - {None, "self"}  # an agent's own methods log and show the answer as well
    for node in ast.walk(loop) if loop is not None else ():
        told: list[ast.expr] = []
        given: list[ast.expr] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            told, given = [node.func.value], given_to(node)
        elif isinstance(node, ast.Assign):  # board.last = move
            told = [t.value for t in node.targets if isinstance(t, ast.Attribute)]
            given = [node.value]
        names = [f"{dotted(each)}." for each in told]
        is_told = any(
            each.startswith(f"{writer}.") for each in names for writer in writers
        )
        if is_told and question in made_from(syntax, owner, given):
            return True
    return False
