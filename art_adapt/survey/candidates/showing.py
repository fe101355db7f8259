"""Tells what shows somebody an answer, and after which of that a loop is left."""

from __future__ import annotations

import ast
import re

from art_adapt.code.nodes import dotted
from art_adapt.code.syntax import Syntax
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
