"""Finds the call that begins a conversation and returns its key: ``say(open(traveller), text)``.

An agent behind a server keeps its conversations in a dict. The entry point takes a key of
that dict and fails without it, and one other function puts conversations there, under keys
that it chooses and returns.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from enum import Enum, auto

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.classes import FunctionKey
from art_adapt.code.dependence import raises_without
from art_adapt.code.given import function_given
from art_adapt.code.nodes import awaited, dotted, last_name, raises
from art_adapt.code.project import Project
from art_adapt.code.questions import question
from art_adapt.code.resolution import resolve
from art_adapt.code.syntax import (
    MODULE_LEVEL,
    Syntax,
    return_values,
    yielded_values,
)
from art_adapt.code.values import steps
from art_adapt.survey.inputs.parameters import parameters_of
from art_adapt.survey.model import EntryPoint, SetupCall
from art_adapt.words import PUTS_ALL, PUTS_ONE

MADE_EMPTY = ("dict", "OrderedDict", "field")


class Use(Enum):
    """What code does with a dict: it needs a key, puts one there, or does something else."""

    NEEDS = auto()
    PUTS = auto()
    OTHER = auto()


@dataclass(frozen=True)
class UseOfDict:
    """Where a function uses a dict that outlives it: ``self.sessions[session_id]``."""

    function: FunctionKey
    container: str  # as it is spelled: "self.sessions"
    use: Use
    key: ast.expr | None = None


def with_session(project: Project, graph: CallGraph, entry: EntryPoint) -> EntryPoint:
    """Say of a parameter that is a conversation's key which call of the project returns it."""
    if entry.route is not None or entry.is_script or entry.is_request:
        return entry
    shown = _shown(project, entry)
    if shown is not entry:
        return shown
    run = graph.run_by([entry.key])
    for each in [use for key in run for use in _uses(project, key)]:
        name = _parameter(project, entry, each) if each.use is Use.NEEDS else None
        opened = None if name is None else _opened(project, entry, each, run)
        if opened is not None:
            setup = tuple(call for call in entry.setup if call.key != opened.key)
            parameters = tuple(
                replace(p, opened=opened) if p.name == name else p
                for p in entry.parameters
            )
            return replace(entry, parameters=parameters, setup=setup)
    return entry


def _shown(project: Project, entry: EntryPoint) -> EntryPoint:
    """Let a function that takes nothing return what a run has seen it return for a parameter."""
    files = {os.path.realpath(path): path for path in project.files}
    beside = {}
    for name, (path, function) in project.session.shown.openers:
        key = (files.get(path, path), function)
        if entry.class_name is None and key in _beside(project, entry.key):
            given = project.files[key[0]].functions[function].given
            if not given and _can_be_called(project, entry, key):
                beside[name] = key
    if not beside:
        return entry
    parameters = tuple(
        replace(each, opened=_call(project, beside[each.name]))
        if each.name in beside
        else each
        for each in entry.parameters
    )
    setup = tuple(call for call in entry.setup if call.key not in beside.values())
    return replace(entry, parameters=parameters, setup=setup)


def _uses(project: Project, key: FunctionKey) -> Iterator[UseOfDict]:
    """Yield what a function, or a module itself, does with dicts that outlive it."""
    syntax = project.files[key[0]]
    for node in syntax.owned_by(key[1]):
        match node:
            case ast.Subscript(value=whole, slice=at, ctx=ast.Load()):
                yield from _use(syntax, key, whole, Use.NEEDS, at)
            case ast.Subscript(value=whole, slice=at, ctx=ast.Store()):
                anew = isinstance(syntax.parents[node], ast.Assign)
                yield from _use(syntax, key, whole, Use.PUTS, at if anew else None)
            case ast.Call(
                func=ast.Attribute(value=whole, attr="get"), args=[at, *more]
            ):
                needed = not more and raises_without(syntax, node)
                use = Use.NEEDS if needed else Use.OTHER
                yield from _use(syntax, key, whole, use, at)
            case ast.Call(func=ast.Attribute(value=whole, attr=method)) if (
                method in PUTS_ONE | PUTS_ALL
            ):
                yield from _use(syntax, key, whole, Use.PUTS)
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[whole]) if (
                not _guards_a_raise(syntax, node)
            ):
                yield from _use(syntax, key, whole, Use.OTHER)


def _use(
    syntax: Syntax,
    key: FunctionKey,
    whole: ast.expr,
    use: Use,
    at: ast.expr | None = None,
) -> Iterator[UseOfDict]:
    name = dotted(whole)
    if name is not None and not _is_local(syntax, name, key[1]):
        yield UseOfDict(key, name, use, at)


def _is_local(syntax: Syntax, name: str, function: str) -> bool:
    head, is_attribute, _ = name.partition(".")
    if function not in syntax.functions or (is_attribute and head in ("self", "cls")):
        return False
    return syntax.is_local(head, function)


def _guards_a_raise(syntax: Syntax, test: ast.expr) -> bool:
    """True for ``if key not in sessions: raise ...``."""
    around = syntax.parents[test]
    return isinstance(around, ast.If) and raises(around.body[-1])


def _parameter(project: Project, entry: EntryPoint, at: UseOfDict) -> str | None:
    """Return the parameter of the entry point that a dict is read at."""
    names = {each.name for each in entry.parameters if each.default is None}
    assert at.key is not None
    found = _asked_for(project, project.files[at.function[0]], at.key)
    given = {name for key, name in found if key == entry.key}
    return given.pop() if len(given) == 1 and given <= names else None


@question
def _asked_for(
    project: Project, syntax: Syntax, key: ast.expr
) -> Iterator[tuple[FunctionKey, str]]:
    """Yield the parameters that a key comes from, through the functions that hand it on."""
    function = function_given(syntax, key)
    if function is not None and isinstance(key, ast.Name):
        yield (syntax.source.path, function.qualname), key.id
    for place, value in steps(project, syntax, key):
        yield from _asked_for(project, place, value)


def _opened(
    project: Project, entry: EntryPoint, at: UseOfDict, run: Set[FunctionKey]
) -> SetupCall | None:
    """Return the one call that puts a conversation into a dict and returns its key."""
    path = at.function[0]
    syntax = project.files[path]
    if not all(
        map(_is_empty, (v for _, v in syntax.assignments.get(at.container, ())))
    ):
        return None
    places = {(path, MODULE_LEVEL), *((path, name) for name in syntax.functions)}
    if at.container.startswith(("self.", "cls.")):
        places = _beside(project, at.function)
    uses = [
        use
        for key in places
        for use in _uses(project, key)
        if use.container == at.container
    ]
    filling = {use.function for use in uses if use.use is Use.PUTS}
    does_without = any(use.use is Use.OTHER and use.function in run for use in uses)
    if does_without or len(filling) != 1:
        return None
    if not all(_returns_key(project, key, at.container) for key in filling):
        return None
    found = [
        key
        for key in sorted(_beside(project, entry.key) - run)
        if _leads_to(project, key, filling) and _can_be_called(project, entry, key)
    ]
    return _call(project, found[0]) if len(found) == 1 else None


def _is_empty(value: ast.expr) -> bool:
    if isinstance(value, ast.Dict):
        return not value.keys
    return isinstance(value, ast.Call) and last_name(value.func) in MADE_EMPTY


def _can_be_called(project: Project, entry: EntryPoint, key: FunctionKey) -> bool:
    """True if an episode can call a function as it is, with fields of its own."""
    syntax = project.files[key[0]]
    function = syntax.functions[key[1]]
    node, names = function.node, {each.name for each in entry.parameters}
    return names.isdisjoint(function.given) and not (
        node.name.startswith("_")
        or node.decorator_list
        or yielded_values(syntax, key[1])
        or (isinstance(node, ast.AsyncFunctionDef) and not entry.is_async)
    )


def _beside(project: Project, key: FunctionKey) -> set[FunctionKey]:
    """Return the methods of a method's class, or the functions of a function's file."""
    functions = project.files[key[0]].functions
    return {
        (key[0], name)
        for name, each in functions.items()
        if each.class_name == functions[key[1]].class_name and not each.nested
    }


def _returns_key(project: Project, key: FunctionKey, container: str) -> bool:
    """True if a function fills a dict at a key that it was not given, and returns that key."""
    given = project.files[key[0]].functions[key[1]].given
    filled = {
        ast.unparse(each.key)
        for each in _uses(project, key)
        if each.use is Use.PUTS and each.container == container and each.key is not None
    }
    returned = return_values(project.files[key[0]], key[1])
    keys = {ast.unparse(each) for each in returned}
    return bool(keys) and keys <= filled and keys.isdisjoint(given)


def _leads_to(project: Project, key: FunctionKey, filling: Set[FunctionKey]) -> bool:
    """True if a function returns such a key itself, or what a function returns that does."""
    if key in filling:
        return True
    syntax = project.files[key[0]]
    returned = [
        awaited(each)
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
    given = parameters_of(project, syntax, function)
    return SetupCall(
        syntax.place(function.node),
        function.node.name,
        key,
        is_async,
        tuple(each for each in given if each.default is None),
    )
