"""Reads what a function writes into the messages that it sends."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import dotted, entries, given_to, grown_list
from art_adapt.code.syntax import Syntax


def written(syntax: Syntax, owner: str, messages: ast.expr) -> Iterator[ast.expr]:
    """Yield the contents that a function writes into messages, at once or one by one."""
    found = [messages, *syntax.values_of(messages)]
    name = dotted(messages)
    for node in syntax.owned_by(owner):
        if name is not None and grown_list(node) == name:
            if isinstance(node, ast.Call):
                found += [ast.List([each]) for each in node.args]
            elif isinstance(node, ast.AugAssign):
                found.append(node.value)
    for each in (part for value in found for part in _joined(value)):
        plain = isinstance(each, ast.List | ast.Call) and not _is_message(each)
        yield from _contents(each if plain else ast.List([each]))


def _joined(messages: ast.expr) -> Iterator[ast.expr]:
    """Yield the lists that are added up to one: ``[system] + history``."""
    if isinstance(messages, ast.BinOp) and isinstance(messages.op, ast.Add):
        yield from (*_joined(messages.left), *_joined(messages.right))
    else:
        yield messages


def _is_message(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and dotted(value.func) == "dict"


def _contents(messages: ast.expr) -> Iterator[ast.expr]:
    """Yield the contents of the messages in a list display, or what a function makes them of."""
    if isinstance(messages, ast.Call):
        yield from given_to(messages)
    for message in messages.elts if isinstance(messages, ast.List) else ():
        if isinstance(message, ast.Dict) or _is_message(message):
            yield from filter(None, [entries(message).get("content")])
