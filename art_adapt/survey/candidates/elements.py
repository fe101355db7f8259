"""Tells which element of a tuple that a function returns is the answer."""

from __future__ import annotations

import ast

from art_adapt.code.annotations import bare
from art_adapt.code.containers import TUPLES
from art_adapt.code.dependence import made_from
from art_adapt.code.hooks import unhooked
from art_adapt.code.nodes import Function, awaited, dotted, last_name, unquoted
from art_adapt.code.project import Project
from art_adapt.code.syntax import Syntax, return_values
from art_adapt.survey.calls.asking import Asking
from art_adapt.survey.calls.replies import holds_reply
from art_adapt.survey.candidates.rewards import is_reward
from art_adapt.survey.candidates.taken import shown_elements


def shown_element(
    project: Project,
    syntax: Syntax,
    function: Function,
    value: ast.Tuple,
    asking: Asking,
) -> ast.expr:
    """Return the answer in ``return answer, usage``.

    It is the element that has a hook, or that callers show, if that is one; else the only element
    that is made from what the model said, as in ``return conversation_id, answer``, or the only
    text of those.
    """
    elements = [e for e in value.elts if not isinstance(e, ast.Starred)]
    if elements != value.elts:
        return value
    marked = [e for e in elements if unhooked(syntax, e, "final_answer") is not e]
    if len(marked) == 1:
        return marked[0]
    shown = [
        elements[at]
        for at in sorted(shown_elements(project, syntax, function, len(elements)))
    ]
    said = [e for e in shown if is_said(syntax, argument_in(e), asking)]
    if len(said) == 1:
        return said[0]
    decided = _decided_elements(syntax, function, len(elements), asking)
    if len(decided) > 1:
        texts = decided & _texts(function)
        return elements[texts.pop()] if len(texts) == 1 and not shown else value
    only = elements[decided.pop()] if decided else value
    return only if is_said(syntax, argument_in(only), asking) else value


def _decided_elements(
    syntax: Syntax, function: Function, size: int, asking: Asking
) -> set[int]:
    """Return which elements of the tuples that a function returns are made from a reply, by index."""
    owner = function.qualname
    returned = map(without_rewards, return_values(syntax, owner))
    return {
        index
        for value in returned
        if isinstance(value, ast.Tuple) and len(value.elts) == size
        for index, each in enumerate(value.elts)
        if any(map(asking.is_site, made_from(syntax, owner, [each])))
    }


def _texts(function: Function) -> set[int]:
    """Return which elements of a function's result are texts, as its annotation says."""
    annotation = function.node.returns
    whole = None if annotation is None else unquoted(annotation)
    parts: list[ast.expr] = []
    if isinstance(whole, ast.Subscript) and last_name(whole.value) in TUPLES:
        parts = whole.slice.elts if isinstance(whole.slice, ast.Tuple) else []
    return {at for at, each in enumerate(parts) if dotted(bare(each)) == "str"}


def is_said(syntax: Syntax, value: ast.expr, asking: Asking) -> bool:
    """True if a value is the model's reply, or what a function returns that asks for one."""
    asked = awaited(value)
    is_asked = isinstance(asked, ast.Call) and asked.func in asking.sites
    return is_asked or holds_reply(syntax, value, asking)


def argument_in(value: ast.expr) -> ast.expr:
    """Return the argument of a call such as ``reward(total_reward)``; other values as they are."""
    if (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and len(value.args) == 1
    ):
        return value.args[0]
    return value


def without_rewards(value: ast.expr) -> ast.expr:
    """Return the answer in ``return answer, reward``."""
    if isinstance(value, ast.Tuple):
        others = [item for item in value.elts if not is_reward(argument_in(item))]
        if len(others) == 1 and len(value.elts) > 1:
            return others[0]
    return value
