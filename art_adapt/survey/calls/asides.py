"""Finds the side jobs that ask through a function which the agent's own turns go through as well.

A hook goes around the request in ``complete(messages)``, whoever calls it. What the turn loop
asks is trained; what ``summarize(messages)`` asks over it, in a conversation of its own, is not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.classes import FunctionKey
from art_adapt.code.command_line import usual_text
from art_adapt.code.nodes import argument_of, dotted, grown_list
from art_adapt.code.project import Project
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.source import Place
from art_adapt.survey.calls.completion_calls import FoundCall
from art_adapt.survey.calls.roles import usual_model
from art_adapt.words import NAMED_SIDE_JOB, SIDE_MODEL


@dataclass(frozen=True)
class Asker:
    """A function that asks the model through another one, at a place.

    ``reason`` says why what it asks is a side job; nothing where it is not known to be one.
    ``apart``: it asks in a conversation of its own, beside turns that go through as well.
    ``model``: another model than those turns name, if both are spelled out.
    """

    function: str
    place: Place
    reason: str = ""
    apart: bool = False
    model: str = ""


def askers_of(
    project: Project, graph: CallGraph, call: FoundCall, *, in_loop: bool
) -> tuple[Asker, ...]:
    """Return the functions that ask through the function which makes a completion call.

    ``in_loop``: turns of a conversation go through it. Then one that is named like a side job,
    and asks once in a conversation that begins there, is one. It must not run what asks the turns.
    A summary is one if it is made between turns: after them it may be what the agent is for.
    """
    key = (call.syntax.source.path, call.function)
    sites = [
        (place, site)
        for place, site in graph.calls_of(project, key)
        if place.owner(site) not in (MODULE_LEVEL, call.function)
    ]
    turns = [
        (place.source.path, place.owner(site))
        for place, site in sites
        if in_loop and not _begins(call, place, site)
    ]

    models = {
        _model_at(call, place, site)
        for place, site in sites
        if (place.source.path, place.owner(site)) in turns
    }

    def asker(place: Syntax, site: ast.Call) -> Asker:
        owner = place.owner(site)
        key = (place.source.path, owner)
        found = Asker(owner, place.place(site))
        if (
            not turns
            or not _begins(call, place, site)
            or _is_handed_over(call, place, site)
            or not graph.run_by([key]).isdisjoint(turns)
        ):
            return found
        own = _model_at(call, place, site)
        other = own if own is not None and models.isdisjoint({own, None}) else ""
        is_named = NAMED_SIDE_JOB.search(owner) is not None or (
            SIDE_MODEL.search(owner) is not None
            and _runs_between(project, graph, turns, key)
        )
        beside = f"beside the conversation in {turns[0][1]}"
        reason = f"{owner} is a side job by its name, {beside}" if is_named else ""
        return replace(found, reason=reason, apart=True, model=other)

    return tuple(dict.fromkeys(asker(place, site) for place, site in sites))


def _runs_between(
    project: Project,
    graph: CallGraph,
    turns: Sequence[FunctionKey],
    key: FunctionKey,
) -> bool:
    """True if a loop of what asks the turns also leads to a function."""
    return any(
        caller in turns
        and (callee == key or key in graph.run_by([callee]))
        and any(
            True
            for node in nodes
            for _ in project.files[caller[0]].enclosing_loops(node)
        )
        for (caller, callee), nodes in graph.sites.items()
    )


def _is_handed_over(call: FoundCall, place: Syntax, site: ast.Call) -> bool:
    """True if a task may run a request: who waits for that is not on its stack."""
    helper = call.syntax.functions[call.function].node
    is_async = isinstance(helper, ast.AsyncFunctionDef)
    return is_async and not isinstance(place.parents[site], ast.Await)


def _begins(call: FoundCall, place: Syntax, site: ast.Call) -> bool:
    """True if a call gives a helper a conversation that begins and ends there, without tools."""
    if _gives_tools(call, site):
        return False
    function = call.syntax.functions[call.function]
    name = dotted(call.messages) if call.messages is not None else None
    given = argument_of(site, name or "", function.positional)
    if given is None:
        return False
    values = list(_lists(place, given))
    return bool(values) and all(isinstance(each, ast.List) for each in values)


def _model_at(call: FoundCall, place: Syntax, site: ast.Call) -> str | None:
    """Return the model that a call gives a helper, or else the helper's own, if it is spelled."""
    function = call.syntax.functions[call.function]
    name = dotted(call.model) if call.model is not None else None
    given = argument_of(site, name or "", function.positional)
    if given is not None:
        return usual_text(place, given)
    return usual_model(call)


def _gives_tools(call: FoundCall, site: ast.Call) -> bool:
    function = call.syntax.functions[call.function]
    name = dotted(call.tools) if call.tools is not None else None
    given = argument_of(site, name or "tools", function.positional)
    return given is not None and not isinstance(given, ast.Constant)


def _lists(place: Syntax, given: ast.expr) -> Iterator[ast.expr]:
    if not isinstance(given, ast.Name):
        yield given
        return
    owner = place.owner(given)
    if any(grown_list(node) == given.id for node in place.owned_by(owner)):
        yield given  # it goes on
    yield from place.values_of(given) or [given]
