"""Tells what shows somebody an answer, and after which of that a loop is left."""

from __future__ import annotations

import ast
import re

from art_adapt.code.nodes import dotted, statements_after
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


def left_after(syntax: Syntax, node: ast.AST) -> ast.AST | None:
    """Return the loop around a statement, if a ``break`` or ``return`` comes after it."""
    loop = syntax.enclosing_loop(node)
    if loop is None:
        return None
    inner: ast.AST = node
    for outer in syntax.ancestors(node):
        after = statements_after(inner, outer)
        if any(isinstance(each, ast.Break | ast.Return) for each in after):
            return loop
        if outer is loop:
            break
        inner = outer
    return None
