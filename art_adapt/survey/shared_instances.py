"""Finds objects of a module that one episode changes and the next one finds changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.survey.entries import CHANGES, outermost
from art_adapt.survey.model import Effect, Harm
from art_adapt.survey.nodes import dotted
from art_adapt.survey.syntax import MODULE_LEVEL, Syntax


def changed_instances(syntax: Syntax) -> Iterator[tuple[str, Effect]]:
    """Find where functions change an object that the module makes of a class of its own.

    They store an attribute of it, or call a method that changes a list, a dict or an
    attribute of the object.
    """
    instances = dict(_instances(syntax))
    said: set[tuple[str, str]] = set()
    for node in syntax.nodes if instances else ():
        owner = syntax.owner(node)
        if owner == MODULE_LEVEL or not isinstance(node, ast.Attribute):
            continue
        name = dotted(node.value)
        if (
            name not in instances
            or (name, owner) in said
            or syntax.is_local(name, owner)
        ):
            continue
        method = f"{instances[name]}.{node.attr}"
        is_called = (
            isinstance(call := syntax.parents.get(node), ast.Call) and call.func is node
        )
        if isinstance(node.ctx, ast.Store) or (is_called and _changes(syntax, method)):
            said.add((name, owner))
            what = f"the module-level {name}, which {owner} changes"
            yield owner, Effect(syntax.place(node), Harm.SHARED, what)


def _instances(syntax: Syntax) -> Iterator[tuple[str, str]]:
    """The names at module level that hold an object of a class of the file, with the class."""
    for name, values in syntax.assignments.items():
        for where, value in values:
            made = dotted(value.func) if isinstance(value, ast.Call) else None
            if where == MODULE_LEVEL and "." not in name and made in syntax.classes:
                yield name, made


def _changes(syntax: Syntax, method: str) -> bool:
    """Whether a method changes its object beyond what it keeps to make it once."""
    return any(
        (isinstance(node, ast.AugAssign) and _own(node.target))
        or (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Store | ast.Del)
            and _own(node.value)
        )
        or (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in CHANGES
            and _own(node.func.value)
        )
        for node in syntax.owned_by(method)
    )


def _own(value: ast.expr) -> bool:
    """Whether an expression is an attribute of ``self``, or an entry of one."""
    return (outermost(value) or "").startswith("self.")
