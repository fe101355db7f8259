"""Tells who starts a conversation that an LLM helper carries on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from art_adapt.code.classes import FunctionKey, is_super, method_above
from art_adapt.code.dependence import made_from
from art_adapt.code.nodes import Function, given_to, last_name
from art_adapt.code.syntax import Syntax
from art_adapt.survey.candidates.launches import asks_by_turns, is_told_once
from art_adapt.survey.candidates.leads import Leads

WORDS = re.compile(r"[a-z]{2} | [a-z]{2}", re.IGNORECASE)  # beside others


def starts_conversation(leads: Leads, key: FunctionKey) -> bool:
    """True if a function starts a conversation that an LLM helper carries on for it."""
    return writes_messages(leads, key) or writes_prompt(leads, key)


def writes_messages(leads: Leads, key: FunctionKey) -> bool:
    """True if a function writes the messages that an LLM helper, or a loop, is given.

    Who chats with a person only adds what is typed to what a loop goes on with.
    """
    asking = leads.asking
    syntax, function = leads.syntax(key), leads.function(key)
    chats = function is not None and asks_by_turns(syntax, function, asking)
    return any(
        asking.writes(syntax, key[1], value)
        for place, helper, given in _helped(leads, key)
        if asking.only_sends(place, helper)
        or (asking.is_given(place, helper) and not chats)
        for value in given
    )


def writes_prompt(leads: Leads, key: FunctionKey) -> bool:
    """True if a function gives an LLM helper its prompts.

    That is ``ask("You explain pods.", f"Why does {pod} fail?")``: text of its own, and
    something that varies.
    """
    syntax = leads.syntax(key)
    for place, helper, given in _helped(leads, key):
        values = [v for value in given for v in (value, *syntax.values_of(value))]
        texts = [
            text
            for value in values
            if isinstance(value, ast.Constant | ast.JoinedStr)
            for text in _texts(value)
        ]
        constants = [last_name(v) for v in given if last_name(v).isupper()]
        if (
            (constants or any(" " in text.strip() for text in texts))
            and not all(_is_fixed(syntax, value) for value in given)
            and leads.asking.only_relays(place, helper)
        ):
            return True
    return False


def has_its_text_written(leads: Leads, key: FunctionKey) -> bool:
    """True if what a function asks is a text that another function writes for it.

    That is ``text = self.describe(email)``, and then ``self.ask(text)``.
    """
    syntax, function = leads.syntax(key), leads.function(key)
    if function is None:
        return False
    asked = {
        value
        for sent in leads.asking.sent_by(syntax, function)
        for value in (sent, *syntax.values_of(sent))
    }
    return any(
        syntax.parents.get(site) in asked and _writes_a_text(leads, callee)
        for callee in leads.graph.certain.get(key, set()) - leads.reaching
        for site in leads.graph.sites.get((key, callee), ())
    )


def _writes_a_text(leads: Leads, key: FunctionKey) -> bool:
    """True if a function returns words of its own."""
    syntax = leads.syntax(key)
    returned = [
        node.value
        for node in syntax.owned_by(key[1])
        if isinstance(node, ast.Return) and node.value is not None
    ]
    parts = made_from(syntax, key[1], returned)
    parts |= {
        v
        for each in parts
        if isinstance(each, ast.Name)
        for v in syntax.values_of(each)
    }
    return any(WORDS.search(text) for part in parts for text in _texts(part))


def _texts(value: ast.AST) -> Iterator[str]:
    for inner in ast.walk(value):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value


def _is_fixed(syntax: Syntax, value: ast.expr) -> bool:
    """True if a value is the same in each run: a text, or a name for one."""
    if isinstance(value, ast.JoinedStr):
        return all(isinstance(each, ast.Constant) for each in value.values)
    values = syntax.values_of(value) if isinstance(value, ast.Name) else [value]
    return bool(values) and all(isinstance(each, ast.Constant) for each in values)


def _helped(
    leads: Leads, key: FunctionKey
) -> Iterator[tuple[Syntax, Function, list[ast.expr]]]:
    """Yield the functions that a function calls, with their files, and what it gives them."""
    syntax, graph = leads.syntax(key), leads.graph
    for path, name in graph.certain.get(key, ()):
        place = leads.project.files[path]
        for site in graph.sites.get((key, (path, name)), ()):
            call = syntax.parents.get(site)
            if name in place.functions and isinstance(call, ast.Call):
                yield place, place.functions[name], given_to(call)


def begins(leads: Leads, key: FunctionKey) -> bool:
    """True if a function starts a conversation, or is told the task and asks in a loop."""
    return is_told_once(leads, key) or starts_conversation(leads, key)


def extends_a_driver(leads: Leads, key: FunctionKey) -> bool:
    """True if a method runs the one above it, ``super().run(task)``, which drives."""
    syntax = leads.syntax(key)
    owner, _, name = key[1].rpartition(".")
    extends = any(
        isinstance(node, ast.Attribute) and node.attr == name and is_super(node.value)
        for node in syntax.owned_by(key[1])
    )
    above = method_above(leads.project, syntax, owner, name) if extends else []
    return any(map(leads.drives, above))
