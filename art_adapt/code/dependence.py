"""Finds, within a function, all that a value is made from, and what raises without it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from art_adapt.code.nodes import dotted, raises
from art_adapt.code.syntax import Syntax


def made_from(syntax: Syntax, owner: str, values: Iterable[ast.AST]) -> set[ast.AST]:
    """Return the nodes of some values, and of what their names and attributes are made from.

    One leads to the other, in whatever order the statements stand: a loop makes an earlier
    one depend on a later one. ``owner``: the function that the values stand in.
    """
    found = {node for value in values for node in ast.walk(value)}
    left, names = list(found), set[str]()
    while left:
        node = left.pop()
        name = dotted(node) if isinstance(node, ast.Name | ast.Attribute) else None
        if name is not None and name not in names:
            names.add(name)
            for value in syntax.origins(owner, name):
                left += [each for each in ast.walk(value) if each not in found]
                found.update(ast.walk(value))
    return found


def raises_without(syntax: Syntax, value: ast.expr) -> bool:
    """True for ``found = value`` beside ``if found is None: raise ...``."""
    holder = syntax.parents[value]
    named = dotted(holder.targets[0]) if isinstance(holder, ast.Assign) else None
    return named is not None and any(
        isinstance(node, ast.If)
        and raises(node.body[-1])
        and _is_absent(node.test, named)
        for node in syntax.owned_by(syntax.owner(value))
    )


def _is_absent(test: ast.expr, name: str) -> bool:
    """True if a condition holds where a value is missing: ``not x``, ``x is None``, ``x == ""``."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=value):
            return dotted(value) == name
        case ast.BoolOp(op=ast.Or(), values=parts):
            return any(_is_absent(each, name) for each in parts)
        case ast.Compare(
            left=value,
            ops=[ast.Is() | ast.Eq()],
            comparators=[ast.Constant(value=other)],
        ):
            return dotted(value) == name and not other
    return False
