"""Tells what a function returns and is no answer: a status, its own argument."""

from __future__ import annotations

import ast

from art_adapt.code.nodes import Function, dotted, entries, last_name
from art_adapt.code.syntax import Syntax
from art_adapt.survey.calls.asking import Asking
from art_adapt.words import ANSWER_KEYS, FAILURE_KEYS, SUCCESS_KEYS

# Annotations of what no code can put an answer into.
FIXED = frozenset(
    {"str", "int", "float", "bool", "bytes", "UUID", "Path", "date", "datetime"}
)


def is_no_answer(value: ast.expr, asking: Asking) -> bool:
    """True if a returned value is a status, or the conversation."""
    return is_status(value) or sends(asking, value)


def is_given(syntax: Syntax, function: Function, value: ast.expr) -> bool:
    """True if a value is an argument that stays as it was given, such as an id."""
    if not isinstance(value, ast.Name):
        return False
    arguments = (*function.node.args.args, *function.node.args.kwonlyargs)
    kinds = {a.arg: last_name(a.annotation) for a in arguments if a.annotation}
    return kinds.get(value.id) in FIXED and not any(
        isinstance(node, ast.Name)
        and node.id == value.id
        and isinstance(node.ctx, ast.Store)
        for node in ast.walk(function.node)
    )


def is_status(value: ast.expr) -> bool:
    """True if a returned value only says how an episode went: ``True``, ``{"ok": True}``."""
    if isinstance(value, ast.Dict) and value.values:
        keys = {k.value for k in value.keys if isinstance(k, ast.Constant)}
        fixed = all(isinstance(each, ast.Constant) for each in value.values)
        return (fixed and keys.isdisjoint(ANSWER_KEYS)) or _is_failure(value)
    return isinstance(value, ast.Constant) and not isinstance(value.value, str)


def _is_failure(value: ast.expr) -> bool:
    """True if a returned dict says itself that there is no answer."""
    said = entries(value) if isinstance(value, ast.Dict) else {}
    for name in SUCCESS_KEYS:
        if isinstance(flag := said.get(name), ast.Constant) and flag.value is False:
            return True
    for name in FAILURE_KEYS:
        flag = said.get(name)
        if flag is not None and not (isinstance(flag, ast.Constant) and not flag.value):
            return True
    return False


def sends(asking: Asking, value: ast.expr) -> bool:
    """True if a value is a conversation that is sent, or a part of it: ``messages[start:]``.

    Of the messages in it, one is the answer.
    """
    if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
        value = value.value
    name = dotted(value)
    sent = (call.messages for call in asking.completions.values())
    return name is not None and any(
        messages is not None and dotted(messages) == name for messages in sent
    )
