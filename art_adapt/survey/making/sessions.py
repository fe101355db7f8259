"""Finds the call that begins a conversation and returns its key: ``say(open(traveller), text)``.

An agent behind a server keeps its conversations in a dict. The entry point takes a key of
that dict, and another function puts the conversation there, under a key that it chooses or
is given.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from dataclasses import dataclass, replace

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.classes import FunctionKey
from art_adapt.code.given import function_given
from art_adapt.code.nodes import dotted, last_name
from art_adapt.code.project import Project
from art_adapt.code.questions import ask
from art_adapt.code.resolution import resolve
from art_adapt.code.syntax import Syntax, return_values
from art_adapt.code.values import steps
from art_adapt.survey.inputs.parameters import parameters_of
from art_adapt.survey.model import EntryPoint, SetupCall

LOOKS_UP = ("get", "pop", "__getitem__")


@dataclass(frozen=True)
class Entry:
    """Where a dict is read or filled at one key: ``self.sessions[session_id]``."""

    function: FunctionKey
    container: str  # as it is spelled: "self.sessions"
    key: ast.expr
    is_stored: bool


def with_session(project: Project, graph: CallGraph, entry: EntryPoint) -> EntryPoint:
    """Say of a parameter that is a conversation's key which call of the project returns it."""
    if entry.route is not None or entry.is_script or entry.is_request:
        return entry
    run = graph.run_by([entry.key])
    functions = (key for key in run if key[1] in project.files[key[0]].functions)
    entries = [each for key in functions for each in _entries(project, key)]
    for each in entries:
        name = None if each.is_stored else _parameter(project, entry, each)
        if (
            name is None
            or not _is_empty_at_first(project, each)
            or _is_made_there(project, entry, entries, each, name)
        ):
            continue
        if (opened := _opened(project, entry, each, run)) is not None:
            setup = tuple(call for call in entry.setup if call.key != opened.key)
            parameters = tuple(
                replace(parameter, opened=opened)
                if parameter.name == name
                else parameter
                for parameter in entry.parameters
            )
            return replace(entry, parameters=parameters, setup=setup)
        if (begun := _begun(project, entry, each, name, run)) is not None:
            setup = tuple(call for call in entry.setup if call.key != begun.key)
            return replace(entry, setup=(*setup, begun))
    return entry


def _entries(project: Project, key: FunctionKey) -> Iterator[Entry]:
    """Yield the entries that a function reads and fills of dicts that outlive it."""
    syntax = project.files[key[0]]
    for node in syntax.owned_by(key[1]):
        match node:
            case ast.Subscript(value=whole, slice=at):
                is_stored = isinstance(node.ctx, ast.Store)
            case ast.Call(
                func=ast.Attribute(value=whole, attr=method), args=[at, *_]
            ) if method in (*LOOKS_UP, "setdefault"):
                is_stored = method == "setdefault"
            case _:
                continue
        name = dotted(whole)
        if name is not None and not _is_local(syntax, name, key[1]):
            yield Entry(key, name, at, is_stored)


def _is_local(syntax: Syntax, name: str, function: str) -> bool:
    head, is_attribute, _ = name.partition(".")
    return syntax.is_local(head, function) and not (
        is_attribute and head in ("self", "cls")
    )


def _parameter(project: Project, entry: EntryPoint, at: Entry) -> str | None:
    """Return the parameter of the entry point that a dict is read at."""
    names = {each.name for each in entry.parameters if each.default is None}
    found = _asked_for(project, project.files[at.function[0]], at.key)
    given = {name for key, name in found if key == entry.key}
    return given.pop() if len(given) == 1 and given <= names else None


def _asked_for(
    project: Project, syntax: Syntax, key: ast.expr
) -> list[tuple[FunctionKey, str]]:
    """Return the parameters that a key comes from, through the functions that hand it on."""
    return ask(project, _parameters, syntax, key)


def _parameters(
    project: Project, syntax: Syntax, key: ast.expr
) -> Iterator[tuple[FunctionKey, str]]:
    function = function_given(syntax, key)
    if function is not None and isinstance(key, ast.Name):
        yield (syntax.source.path, function.qualname), key.id
    for place, value in steps(project, syntax, key):
        yield from _asked_for(project, place, value)


def _is_empty_at_first(project: Project, at: Entry) -> bool:
    """True if a dict holds nothing until a function puts it there, and makes nothing itself."""
    assigned = project.files[at.function[0]].assignments.get(at.container, ())
    return all(_is_empty(value) for _, value in assigned)


def _is_empty(value: ast.expr) -> bool:
    if isinstance(value, ast.Dict):
        return not value.keys
    empty = ("dict", "OrderedDict", "WeakValueDictionary", "field")
    return isinstance(value, ast.Call) and last_name(value.func) in empty


def _is_made_there(
    project: Project, entry: EntryPoint, entries: list[Entry], at: Entry, name: str
) -> bool:
    """True if the episode itself puts something under a key that is not there yet."""
    return any(
        each.is_stored
        and each.container == at.container
        and _parameter(project, entry, each) == name
        for each in entries
    )


def _opened(
    project: Project, entry: EntryPoint, at: Entry, run: Set[FunctionKey]
) -> SetupCall | None:
    """Return the one call that puts a conversation into a dict and returns its key."""
    filling = {
        key
        for key in _beside(project, at.function) - run
        if _returns_key(project, key, at.container)
    }
    found = [
        _call(project, key)
        for key in _beside(project, entry.key) - run
        if _leads_to(project, key, filling)
    ]
    return _only(entry, found)


def _begun(
    project: Project, entry: EntryPoint, at: Entry, name: str, run: Set[FunctionKey]
) -> SetupCall | None:
    """Return the one call that puts a conversation into a dict at a key that it is given."""
    found = [
        _given_key(_call(project, key), str(each.key.id), name)
        for key in _beside(project, entry.key) - run
        for each in _entries(project, key)
        if each.is_stored
        and each.container == at.container
        and isinstance(each.key, ast.Name)
        and each.key.id in project.files[key[0]].functions[key[1]].positional
    ]
    plain = [call for call in found if not any(p.is_object for p in call.parameters)]
    return _only(entry, plain)


def _given_key(call: SetupCall, own: str, name: str) -> SetupCall:
    """Give a call the key that the entry point's parameter ``name`` gets, by its position."""
    names = [each.name for each in call.parameters]
    end = names.index(own) + 1
    parameters = tuple(
        replace(
            each, name=name if each.name == own else each.name, positional_only=True
        )
        for each in call.parameters[:end]
    )
    return replace(call, parameters=(*parameters, *call.parameters[end:]))


def _beside(project: Project, key: FunctionKey) -> set[FunctionKey]:
    """Return the methods of a method's class, or the functions of a function's file."""
    functions = project.files[key[0]].functions
    return {
        (key[0], name)
        for name, each in functions.items()
        if each.class_name == functions[key[1]].class_name and not each.nested
    }


def _only(entry: EntryPoint, calls: list[SetupCall]) -> SetupCall | None:
    usable = [each for each in calls if entry.is_async or not each.is_async]
    return usable[0] if len(usable) == 1 else None


def _returns_key(project: Project, key: FunctionKey, container: str) -> bool:
    """True if a function fills a dict at a key, and returns that key."""
    syntax = project.files[key[0]]
    filled = {
        ast.unparse(each.key)
        for each in _entries(project, key)
        if each.is_stored and each.container == container
    }
    returned = return_values(syntax, key[1])
    return bool(returned) and all(ast.unparse(each) in filled for each in returned)


def _leads_to(project: Project, key: FunctionKey, filling: Set[FunctionKey]) -> bool:
    """True if a function returns such a key itself, or what a function returns that does."""
    if key in filling:
        return True
    syntax = project.files[key[0]]
    returned = [
        each.value if isinstance(each, ast.Await) else each
        for value in return_values(syntax, key[1])
        for each in syntax.values_of(value) or [value]
    ]
    return bool(returned) and all(
        isinstance(each, ast.Call)
        and not filling.isdisjoint(resolve(project, syntax, each.func))
        for each in returned
    )


def _call(project: Project, key: FunctionKey) -> SetupCall:
    syntax = project.files[key[0]]
    function = syntax.functions[key[1]]
    is_async = isinstance(function.node, ast.AsyncFunctionDef)
    given = tuple(
        each
        for each in parameters_of(project, syntax, function)
        if each.default is None
    )
    place = syntax.place(function.node)
    return SetupCall(place, function.node.name, key, is_async, given)
