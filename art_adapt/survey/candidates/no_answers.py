"""Tells what a function returns and is no answer: a status, its own argument."""

from __future__ import annotations

import ast

from art_adapt.code.nodes import Function, dotted, entries, last_name
from art_adapt.code.project import Project
from art_adapt.code.resolution import resolve
from art_adapt.code.syntax import Syntax
from art_adapt.survey.calls.asking import Asking
from art_adapt.survey.side_effects.library_calls import RUNNERS
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
    return dotted(value) in asking.sent


def is_stream(project: Project, syntax: Syntax, value: ast.expr) -> bool:
    """True if a value is what a generator of the project yields, which nothing has read."""
    if isinstance(value, ast.Name):
        values = syntax.values_of(value)
        return bool(values) and all(is_stream(project, syntax, v) for v in values)
    if not isinstance(value, ast.Call):
        return False
    return any(
        isinstance(node, ast.Yield | ast.YieldFrom)
        for path, name in resolve(project, syntax, value.func)
        for node in project.files[path].owned_by(name)
    )


def is_nothing(project: Project, syntax: Syntax, value: ast.expr) -> bool:
    """True if a value is a call of the project's that never returns one: it prints."""
    match value:
        case ast.Await(value=inner):
            return is_nothing(project, syntax, inner)
        case ast.Call(args=[ast.Call() as inner]) if _runs(syntax, value):
            return is_nothing(project, syntax, inner)
    called = resolve(project, syntax, value.func) if isinstance(value, ast.Call) else []
    return bool(called) and not any(
        name.endswith("__init__") or _gives(project.home(path), name)
        for path, name in called
    )


def _runs(syntax: Syntax, call: ast.Call) -> bool:
    """True for ``asyncio.run(chat(task))``."""
    return syntax.qualified(call.func) in RUNNERS


def _gives(syntax: Syntax, function: str) -> bool:
    """True if a function returns or yields something, or leaves that to who overrides it."""
    gives = any(
        isinstance(node, ast.Yield | ast.YieldFrom)
        or (isinstance(node, ast.Return) and node.value is not None)
        for node in syntax.owned_by(function)
    )
    found = syntax.functions.get(function)
    decorated = found is not None and bool(found.node.decorator_list)
    return (
        gives
        or decorated
        or all(
            isinstance(each, ast.Raise | ast.Pass)
            or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
            for each in (found.node.body if found is not None else ())
        )
    )
