"""Follows a value back, within its function, to all that it is made from."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from art_adapt.code.nodes import dotted
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
