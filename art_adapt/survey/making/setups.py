"""Finds what a project calls before and after it runs its agent: connect(), close().

A ``main()`` shows it: it makes the agent, sets it up, runs it, and closes it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.classes import FunctionKey, lineage, method_of
from art_adapt.code.index import constructed
from art_adapt.code.instances import classes_of
from art_adapt.code.nodes import Function, FunctionNode, argument_of, assignment, dotted
from art_adapt.code.project import Project
from art_adapt.code.resolution import resolve
from art_adapt.code.syntax import Syntax
from art_adapt.survey.inputs.parameters import parameters_of
from art_adapt.survey.inputs.slices import construction
from art_adapt.survey.making.call_ranks import ordered
from art_adapt.survey.making.factories import made_by_factories
from art_adapt.survey.model import EntryPoint, Parameter, SetupCall
from art_adapt.words import CLEANS_UP

OPENS = ("__enter__", "__aenter__")


def with_setup(project: Project, graph: CallGraph, entry: EntryPoint) -> EntryPoint:
    """Say what the project calls on the agent before it runs it, and after."""
    key = entry.key
    reaching = graph.reaching([key])
    if entry.class_name is not None:
        return _of_instance(project, graph, entry, reaching)
    for (caller, callee), nodes in graph.sites.items():
        if callee == key and caller[1] in project.files[caller[0]].functions:
            place = project.files[caller[0]]
            found = _of_functions(project, entry, place, caller[1], nodes[0])
            if found is not entry:
                return found
    return entry


def may_be_opened(project: Project, entry: EntryPoint) -> bool:
    """True if a method of the agent sets what it keeps, as ``open()`` or ``__aenter__`` does."""
    if entry.class_name is None:
        return False
    runs = entry.called.rpartition(".")[2]
    return any(
        name in OPENS
        or (
            not name.startswith("_") and name != runs and _keeps(place, method.qualname)
        )
        for place, owner in lineage(
            project, project.files[entry.home], entry.class_name
        )
        for name, method in place.methods_of(owner)
    )


def _keeps(place: Syntax, method: str) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and dotted(node.value) == "self"
        for node in place.owned_by(method)
    )


def _of_instance(
    project: Project, graph: CallGraph, entry: EntryPoint, reaching: set[FunctionKey]
) -> EntryPoint:
    syntax = project.files[entry.home]
    assert entry.class_name is not None
    sites = [
        *constructed(project, syntax, entry.class_name),
        *made_by_factories(project, graph, entry),
    ]
    for place, made in ordered(project, syntax, sites):
        held = _held(place, made)
        if held is None:
            continue
        name, context = held
        if context == "async with" and not entry.is_async:
            continue
        calls = [
            (node, functions[0])
            for node in place.owned_by(place.owner(made))
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and dotted(node.func.value) == name
            and (
                functions := method_of(
                    project, syntax, entry.class_name, node.func.attr
                )
            )
        ]
        runs = [at for at, (_, function) in enumerate(calls) if function in reaching]
        if runs:
            return _set_up(
                project, entry, place, calls[: runs[0]], calls[runs[0] :], context
            )
        until = _runs_from(entry, place, made, name) if calls else None
        if until is not None:
            kept = [
                (node, key)
                for node, key in calls
                if node.lineno < until and _keeps(project.files[key[0]], key[1])
            ]
            return _set_up(project, entry, place, kept, [], context)
    return entry


def _runs_from(
    entry: EntryPoint, place: Syntax, made: ast.Call, name: str
) -> int | None:
    """Return the line from which something may run the method that an episode runs.

    ``bot = Bot(agent.handle)`` runs it from ``bot.start()`` on, and ``serve(agent.handle)``
    at once. None: it is handed to nothing.
    """
    method = entry.called.rpartition(".")[2]
    nodes = list(place.owned_by(place.owner(made)))
    for node in nodes:
        if not (
            isinstance(node, ast.Attribute)
            and node.attr == method
            and dotted(node.value) == name
        ):
            continue
        around = place.parents[node]
        call = place.parents[around] if isinstance(around, ast.keyword) else around
        if not isinstance(call, ast.Call) or call.func is node:
            continue
        given_to = next(map(dotted, assignment(place.parents[call])[0]), None)
        if given_to is None and isinstance(call.func, ast.Attribute):
            given_to = dotted(call.func.value)  # bot.on(agent.handle)
        later = [
            each.lineno
            for each in nodes
            if isinstance(each, ast.Call)
            and isinstance(each.func, ast.Attribute)
            and dotted(each.func.value) == given_to
            and each.lineno > call.lineno
        ]
        return min(later, default=call.lineno) if given_to else call.lineno
    return None


def _held(place: Syntax, made: ast.Call) -> tuple[str, str] | None:
    """Return the name that a new instance is given, and the kind of block it is the context of."""
    holder = place.parents[made]
    name = next(map(dotted, assignment(holder)[0]), None)
    context = ""
    if isinstance(holder, ast.withitem):
        is_async = isinstance(place.parents[holder], ast.AsyncWith)
        context = "async with" if is_async else "with"
    return None if name is None else (name, context)


def _of_functions(
    project: Project, entry: EntryPoint, place: Syntax, caller: str, site: ast.expr
) -> EntryPoint:
    """Take functions of the agent's file that set its globals before it runs."""
    syntax = project.files[entry.place.path]
    calls = [
        (node, functions[0])
        for node in place.owned_by(caller)
        if isinstance(node, ast.Call)
        and (functions := resolve(project, place, node.func))
        and functions[0][0] == entry.place.path
        and "." not in functions[0][1]
    ]
    before = [
        call
        for call in calls
        if call[0].lineno < site.lineno and _sets_globals(syntax, call[1][1])
    ]
    after = [call for call in calls if call[0].lineno > site.lineno]
    return _set_up(project, entry, place, before, after, "")


def _sets_globals(syntax: Syntax, function: str) -> bool:
    return any(isinstance(node, ast.Global) for node in syntax.owned_by(function))


_Call = tuple[ast.Call, FunctionKey]


def _set_up(
    project: Project,
    entry: EntryPoint,
    place: Syntax,
    before: Sequence[_Call],
    after: Sequence[_Call],
    context: str,
) -> EntryPoint:
    setup = [
        found
        for node, key in before
        if _is_statement(place, node)
        and (found := _setup_call(project, entry, place, node, key)) is not None
    ]
    if not setup and not context:
        return entry
    keys = [key for _, key in after] + list(_closing(project, entry))
    cleanup: dict[str, SetupCall] = {}
    for path, qualname in keys:
        function = project.files[path].functions[qualname]
        is_async = isinstance(function.node, ast.AsyncFunctionDef)
        name = function.node.name
        if name in CLEANS_UP and setup and (entry.is_async or not is_async):
            where = project.files[path].place(function.node)
            cleanup[name] = SetupCall(where, name, (path, qualname), is_async)
    return replace(
        entry,
        setup=tuple(setup),
        cleanup=tuple(cleanup.values())[:1],
        context=context,
    )


def _closing(project: Project, entry: EntryPoint) -> Iterator[FunctionKey]:
    """Yield the methods of the agent's class that end what was set up, called or not."""
    if entry.class_name is not None:
        syntax = project.files[entry.home]
        for name in CLEANS_UP:
            yield from method_of(project, syntax, entry.class_name, name)


def _is_statement(place: Syntax, call: ast.Call) -> bool:
    """True if the call stands for itself, or only its success is asked for."""
    parent = place.parents[call]
    outer = place.parents[parent] if isinstance(parent, ast.Await) else parent
    if not isinstance(outer, ast.Expr | ast.Assign | ast.If):
        return False
    inner: ast.AST = call
    for around in place.ancestors(call):  # what happens only sometimes is no setup
        if isinstance(around, FunctionNode):
            break
        if isinstance(around, ast.If | ast.For | ast.While) and inner in around.body:
            return place.is_guarded(call)
        inner = around
    return True


def _setup_call(
    project: Project, entry: EntryPoint, place: Syntax, call: ast.Call, key: FunctionKey
) -> SetupCall | None:
    owner = project.files[key[0]]
    function = owner.functions[key[1]]
    is_async = isinstance(function.node, ast.AsyncFunctionDef)
    if is_async and not entry.is_async:
        return None
    agent = project.files[entry.home]
    given = tuple(_given(project, agent, place, call, owner, function))
    return SetupCall(place.place(call), function.node.name, key, is_async, given)


def _is_of_an_object(project: Project, place: Syntax, value: ast.expr) -> bool:
    """True if a value is an attribute of an object of the project: ``bot.api``."""
    return isinstance(value, ast.Attribute) and bool(
        classes_of(project, place, value.value)
    )


def _given(
    project: Project,
    agent: Syntax,
    place: Syntax,
    call: ast.Call,
    owner: Syntax,
    function: Function,
) -> Iterator[Parameter]:
    """Yield the parameters that a call gives: as it makes them, or else from the scenario.

    What goes into ``*names`` or ``**options`` is no parameter of its own, and is made.
    """
    rest = call.args[len(function.positional) :]
    known = {each.name: each for each in parameters_of(project, owner, function)}
    for name, parameter in known.items():
        value = argument_of(call, name, function.positional)
        if value is None:
            continue
        made = construction(project, agent, place, value)
        yield replace(
            parameter,
            default=None,
            is_object=made is not None
            or parameter.is_object
            or _is_of_an_object(project, place, value),
            made=made,
            passed=place.place(value),
            positional_only=parameter.positional_only or bool(rest),
        )
    several = function.node.args.vararg
    more = [(several.arg, each, True) for each in rest] if several else []
    more += [
        (each.arg, each.value, False)
        for each in call.keywords
        if each.arg is not None and each.arg not in known
    ]
    for name, value, by_position in more:
        made = construction(project, agent, place, value)
        yield Parameter(
            name,
            None,
            None,
            is_object=True,
            made=made,
            passed=place.place(value),
            positional_only=by_position,
        )
