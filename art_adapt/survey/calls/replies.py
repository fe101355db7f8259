"""Tells which expressions hold what the model answered."""

from __future__ import annotations

import ast
from collections.abc import Collection

from art_adapt.calls import ANSWERS, PIECES
from art_adapt.code.nodes import dotted
from art_adapt.code.syntax import Syntax
from art_adapt.survey.calls.asking import Asking
from art_adapt.words import OF_REPLY, STRIPS


def holds_reply(
    syntax: Syntax, value: ast.expr, asking: Asking, depth: int = 0
) -> bool:
    """True if an expression holds the model's answer.

    That is ``message.content``, a variable that was assigned it, or the parsed answer that
    a call returns, whole or in part.
    """
    if isinstance(value, ast.BoolOp):  # message.content or ""
        return holds_reply(syntax, value.values[0], asking, depth)
    if (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr in STRIPS
    ):
        return holds_reply(syntax, value.func.value, asking, depth)
    if isinstance(value, ast.Attribute | ast.Subscript):
        path = _path(value)
        if isinstance(value, ast.Subscript):  # of any dict: its names have to say more
            if OF_REPLY.search(path):
                return True
        elif _ends_with(path, ANSWERS) and not _ends_with(path, PIECES):
            return True
    if _is_last_content(value, asking):
        return True
    whole = value
    while isinstance(whole, ast.Attribute | ast.Subscript):
        whole = whole.value
    if any(map(asking.returns_answer, (whole, *syntax.values_of(whole)))):
        return True
    if depth or not isinstance(value, ast.Name):
        return False
    return any(holds_reply(syntax, held, asking, 1) for held in syntax.values_of(value))


def _is_last_content(value: ast.expr, asking: Asking) -> bool:
    """True if an expression is ``messages[-1]["content"]`` of a conversation."""
    if isinstance(value, ast.Subscript):
        key, last = value.slice, value.value
        is_content = isinstance(key, ast.Constant) and key.value == "content"
    elif isinstance(value, ast.Attribute):
        is_content, last = value.attr == "content", value.value
    else:
        return False
    if not is_content or not isinstance(last, ast.Subscript):
        return False
    return ast.unparse(last.slice) == "-1" and dotted(last.value) in asking.sent


def _path(value: ast.expr) -> str:
    """Spell an expression without its indices: ``reply.choices.message.content``.

    Keys count as names: LiteLLM's answers can be read as dicts.
    """
    names: list[str] = []
    while isinstance(value, ast.Attribute | ast.Subscript):
        if isinstance(value, ast.Attribute):
            names.append(value.attr)
        elif isinstance(value.slice, ast.Constant) and isinstance(
            value.slice.value, str
        ):
            names.append(value.slice.value)
        value = value.value
    names.append(value.id if isinstance(value, ast.Name) else "")
    return ".".join(reversed(names))


def _ends_with(path: str, endings: Collection[str]) -> bool:
    return path.endswith(tuple(f".{ending}" for ending in endings)) or path in endings
