"""Tells which list, dict or set an expression changes, through entries of it as well."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import dotted
from art_adapt.code.syntax import Syntax
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


def containers_of_entry(syntax: Syntax, owner: str, name: str) -> Iterator[str]:
    """Yield the containers that a function takes an entry from, and calls it ``name``.

    That is ``order = ORDERS[key]``, ``ORDERS.get(key)``, ``for order in ORDERS.values()``.
    """
    for node in syntax.owned_by(owner):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)]) if target == name:
                yield from _taken_from(node.value)
            case ast.NamedExpr(target=ast.Name(id=target)) if target == name:
                yield from _taken_from(node.value)
            case ast.For(target=target) if name in _last_of(target):
                yield from _gone_over(node.iter)


def _taken_from(value: ast.expr) -> Iterator[str]:
    """Yield the container whose entry a value is, or that it is itself."""
    match value:
        case ast.Name(id=name):
            yield name
        case ast.Subscript(slice=at) if not isinstance(at, ast.Slice):
            yield outermost(value) or ""
        case ast.Call(func=ast.Attribute(attr="get" | "setdefault")):
            assert isinstance(value.func, ast.Attribute)
            yield outermost(value.func.value) or ""
        case ast.Call(func=ast.Name(id="next"), args=[ast.GeneratorExp() as each, *_]):
            yield from _gone_over(each.generators[0].iter)


def _gone_over(iterated: ast.expr) -> Iterator[str]:
    """Yield the container whose entries a loop goes over."""
    match iterated:
        case ast.Call(func=ast.Attribute(attr="values" | "items")):
            assert isinstance(iterated.func, ast.Attribute)
            yield outermost(iterated.func.value) or ""
        case ast.Call(func=ast.Name(id="enumerate"), args=[first, *_]):
            yield outermost(first) or ""
        case _:
            yield outermost(iterated) or ""


def _last_of(target: ast.expr) -> list[str]:
    """Return the name of the entry in ``for key, entry in ...``."""
    last = target.elts[-1] if isinstance(target, ast.Tuple) else target
    return [last.id] if isinstance(last, ast.Name) else []
