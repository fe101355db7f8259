"""Tells which list, dict or set an expression changes, through entries of it as well."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.containers import container_of, held_by, iterated
from art_adapt.code.nodes import dotted
from art_adapt.code.syntax import Syntax, return_values
from art_adapt.words import CHANGES_CONTAINER


def changed_container(node: ast.expr) -> tuple[str | None, ast.expr | None]:
    """Return the container that an expression changes, and the entry if it is a single one."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        is_one = isinstance(node.ctx, ast.Store)
        is_one = is_one and not isinstance(node.value, ast.Subscript)
        return outermost(node.value), node.slice if is_one else None
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in CHANGES_CONTAINER
    ):
        whole = not isinstance(node.func.value, ast.Subscript)
        adds = node.func.attr in ("add", "append") and node.args and whole
        return outermost(node.func.value), node.args[0] if adds else None
    return None, None


def outermost(value: ast.expr) -> str | None:
    """Return the container that an entry is in: ORDERS for ``ORDERS[key]["items"]``.

    ``SEEN.get()`` of a context variable is what SEEN holds.
    """
    while isinstance(value, ast.Subscript):
        value = value.value
    match value:
        case ast.Call(func=ast.Attribute(value=holder, attr="get"), args=[]):
            return dotted(holder)
    return dotted(value)


DEEPEST = 3  # functions, each of which returns what the next one does


def containers_of_entry(
    syntax: Syntax, owner: str, name: str, deepest: int = DEEPEST
) -> Iterator[str]:
    """Yield the containers that a function takes an entry from, and calls it ``name``.

    That is ``order = ORDERS[key]``, ``ORDERS.get(key)``, ``for order in ORDERS.values()``, and
    ``order = self.find(key)`` of a method that returns one.
    """
    taken = [iterated(syntax, owner, name)]
    for where, value in syntax.assignments.get(name, ()):
        if where == owner:
            if isinstance(value, ast.Name):
                yield value.id
            elif isinstance(value, ast.Call) and deepest:
                yield from _returned_entries(syntax, owner, value, deepest - 1)
            taken.append(container_of(syntax, value))
    for container in filter(None, taken):
        if isinstance(container, ast.GeneratorExp):
            container = container.generators[0].iter
        for whole in held_by(container)[1] or [container]:
            yield outermost(whole) or ""


def _returned_entries(
    syntax: Syntax, owner: str, call: ast.Call, deepest: int
) -> Iterator[str]:
    """Yield the containers that a function or method of the file returns an entry of."""
    called = dotted(call.func) or ""
    if called.startswith("self."):
        called = f"{owner.rpartition('.')[0]}.{called.removeprefix('self.')}"
    for value in return_values(syntax, called) if called in syntax.functions else ():
        if isinstance(value, ast.Name):
            yield from containers_of_entry(syntax, called, value.id, deepest)
        elif (whole := container_of(syntax, value)) is not None:
            yield outermost(whole) or ""
