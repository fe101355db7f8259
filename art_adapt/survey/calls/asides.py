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
from art_adapt.code.dependence import made_from
from art_adapt.code.nodes import (
    Function,
    argument_of,
    choices,
    defaults_of,
    dotted,
    grown_list,
)
from art_adapt.code.project import Project
from art_adapt.code.syntax import MODULE_LEVEL, Syntax, return_values
from art_adapt.code.values import usual_text_of
from art_adapt.source import Place
from art_adapt.survey.calls.completion_calls import FoundCall
from art_adapt.survey.calls.roles import usual_model
from art_adapt.words import NAMED_SIDE_JOB, SIDE_MODEL

DEEPEST = 3  # functions, each of which hands on to the next which model is asked


@dataclass(frozen=True)
class Asker:
    """A function that asks the model through another one, at a place.

    ``reason`` says why what it asks is a side job; nothing where it is not known to be one.
    ``apart``: it asks in a conversation of its own, beside turns that go through as well.
    ``model``: another model than those turns name, if both are spelled out.
    ``asks``: the model that it asks for, if the other one leaves that to it.
    """

    function: str
    place: Place
    reason: str = ""
    apart: bool = False
    model: str = ""
    asks: str | None = None


@dataclass(frozen=True)
class _Helper:
    """A function through which others ask: the parameters that it sends on, and its own model."""

    syntax: Syntax
    function: Function
    messages: str | None
    model: str | None
    tools: str | None
    usual_model: str | None

    @classmethod
    def of(cls, project: Project, call: FoundCall) -> _Helper:
        return cls(
            call.syntax,
            call.syntax.functions[call.function],
            _name(call.messages),
            _name(call.model),
            _name(call.tools) or "tools",
            usual_model(project, call),
        )

    @property
    def is_told(self) -> bool:
        """True if those who ask through it may say which model."""
        return self.model in self.function.given

    @property
    def key(self) -> FunctionKey:
        return self.syntax.source.path, self.function.qualname

    def given(self, site: ast.Call, name: str | None) -> ast.expr | None:
        return argument_of(site, name or "", self.function.positional)

    def around(self, project: Project, place: Syntax, site: ast.Call) -> _Helper | None:
        """Return the function that a call stands in, if it hands on which model is asked."""
        function = place.functions[place.owner(site)]

        def own(name: str | None) -> str | None:
            given = dotted(self.given(site, name) or ast.Pass())
            return given if given in function.given else None

        model = own(self.model)
        if model is None:
            return None
        default = dict(defaults_of(function.node)).get(model)
        usual = None if default is None else usual_text_of(project, place, default)
        messages, tools = own(self.messages), own(self.tools)
        return _Helper(place, function, messages, model, tools, usual)


def _name(value: ast.expr | None) -> str | None:
    """Return the name in ``model``, and in ``model or DEFAULT``."""
    named = [] if value is None else map(dotted, (value, *choices(value)))
    return next(filter(None, named), None)


Site = tuple[_Helper, Syntax, ast.Call]


def _sites(
    project: Project, graph: CallGraph, helper: _Helper, depth: int = DEEPEST
) -> tuple[list[Site], list[Site]]:
    """Return the calls by which functions ask through a helper, and those behind them.

    Behind one that hands on which model is asked are its callers, which say it.
    """
    direct: list[Site] = []
    behind: list[Site] = []
    for place, site in graph.calls_of(project, helper.key):
        if place.owner(site) in (MODULE_LEVEL, helper.function.qualname):
            continue
        direct.append((helper, place, site))
        if depth and (outer := helper.around(project, place, site)) is not None:
            for more in _sites(project, graph, outer, depth - 1):
                behind += more
    return direct, behind


def askers_of(
    project: Project, graph: CallGraph, call: FoundCall, *, in_loop: bool
) -> tuple[Asker, ...]:
    """Return the functions that ask through the function which makes a completion call.

    ``in_loop``: turns of a conversation go through it. Then one that is named like a side job,
    and asks once in a conversation that begins there, is one. It must not run what asks the turns.
    A summary is one if it is made between turns: after them it may be what the agent is for. What
    the turns' function returns of it is the answer, whatever wrote it is called.
    One that asks once, and another model than those in a loop, may be a side job.
    """
    if call.function == MODULE_LEVEL:
        return ()
    direct, behind = _sites(project, graph, _Helper.of(project, call))
    turns = [_key(each) for each in direct if in_loop and not _begins(*each)]
    of_turns = [each for each in direct if _key(each) in turns]
    models = {_model_at(project, *each) for each in of_turns}
    settings = {_setting_at(*each) for each in of_turns}

    def asker(helper: _Helper, place: Syntax, site: ast.Call) -> Asker:
        owner = place.owner(site)
        key = (place.source.path, owner)
        own = _model_at(project, helper, place, site)
        found = Asker(owner, place.place(site), asks=own if helper.is_told else None)
        if (
            not turns
            or not _begins(helper, place, site)
            or _is_handed_over(helper, place, site)
            or not graph.run_by([key]).isdisjoint(turns)
        ):
            return found
        other = own if own is not None and models.isdisjoint({own, None}) else ""
        setting = _setting_at(helper, place, site)
        if own is None and setting is not None and setting not in settings:
            # Of one object of settings, another field: config.guard beside config.model.
            kept = setting.rpartition(".")[0]
            fields = [each for each in settings if each and each.startswith(f"{kept}.")]
            other = setting if fields and len(fields) == len(settings) else ""
        is_named = (
            NAMED_SIDE_JOB.search(owner) is not None
            or (
                SIDE_MODEL.search(owner) is not None
                and _runs_between(project, graph, turns, key)
            )
        ) and not _answers(project, graph, turns, key)
        beside = f"beside the conversation in {turns[0][1]}"
        reason = f"{owner} is a side job by its name, {beside}" if is_named else ""
        return replace(found, reason=reason, apart=True, model=other)

    askers = [asker(*each) for each in direct]
    told = {each.function for each in askers if each.apart}
    once = _asking_once(project, graph, [*direct, *behind]) if in_loop else ()
    others = [each for each in once if each.function not in told]
    named = {each.function for each in others}
    kept = [each for each in askers if each.function not in named]
    further = [
        Asker(place.owner(site), place.place(site), asks=model)
        for helper, place, site in behind
        if (model := _model_at(project, helper, place, site)) is not None
        and place.owner(site) not in named
    ]
    return tuple(dict.fromkeys([*kept, *further, *others]))


def _asking_once(
    project: Project, graph: CallGraph, sites: Sequence[Site]
) -> Iterator[Asker]:
    """Yield what asks once, and another model than those ask that a loop leads to."""
    models = {each: _model_at(project, *each) for each in sites}
    looped = {
        key
        for each in sites
        for key in [_key(each)]
        if [*each[1].enclosing_loops(each[2])] or _is_looped(project, graph, key)
    }
    of_loops = {name for each, name in models.items() if name and _key(each) in looped}
    for each, name in models.items():
        if name and of_loops and name not in of_loops and _key(each) not in looped:
            _, place, site = each
            yield Asker(
                place.owner(site), place.place(site), apart=True, model=name, asks=name
            )


def _key(site: Site) -> FunctionKey:
    _, place, call = site
    return place.source.path, place.owner(call)


def _is_looped(project: Project, graph: CallGraph, key: FunctionKey) -> bool:
    """True if a loop leads to a function."""
    leading = graph.reaching([key])
    return any(
        callee in leading and any(True for _ in place.enclosing_loops(node))
        for (caller, callee), nodes in graph.sites.items()
        if (place := project.files.get(caller[0])) is not None
        for node in nodes
    )


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


def _answers(
    project: Project,
    graph: CallGraph,
    turns: Sequence[FunctionKey],
    key: FunctionKey,
) -> bool:
    """True if what asks the turns returns what a function has said."""
    for caller in turns:
        place = project.files[caller[0]]
        returned = made_from(place, caller[1], return_values(place, caller[1]))
        if not returned.isdisjoint(graph.sites.get((caller, key), ())):
            return True
    return False


def _is_handed_over(helper: _Helper, place: Syntax, site: ast.Call) -> bool:
    """True if a task may run a request: who waits for that is not on its stack."""
    is_async = isinstance(helper.function.node, ast.AsyncFunctionDef)
    return is_async and not isinstance(place.parents[site], ast.Await)


def _begins(helper: _Helper, place: Syntax, site: ast.Call) -> bool:
    """True if a call gives a helper a conversation that begins and ends there, without tools."""
    tools = helper.given(site, helper.tools)
    given = helper.given(site, helper.messages)
    if given is None or not (tools is None or isinstance(tools, ast.Constant)):
        return False
    values = list(_lists(place, given))
    return bool(values) and all(
        isinstance(each, ast.List) and not _goes_on(place, each) for each in values
    )


def _goes_on(place: Syntax, conversation: ast.List) -> bool:
    """True if a list begins with the messages of another one: ``[*messages, closing]``.

    Examples that the file writes out are a beginning.
    """
    match conversation.elts:
        case [ast.Starred(value=ast.Attribute()), *_]:
            return True
        case [ast.Starred(value=ast.Name(id=name)), *_]:
            function = place.functions.get(place.owner(conversation))
            return function is not None and name in function.given
    return False


def _model_at(
    project: Project, helper: _Helper, place: Syntax, site: ast.Call
) -> str | None:
    """Return the model that a call gives a helper, or else the helper's own, if it is spelled."""
    given = helper.given(site, helper.model)
    return helper.usual_model if given is None else usual_text_of(project, place, given)


def _setting_at(helper: _Helper, place: Syntax, site: ast.Call) -> str | None:
    """Return the attribute that a call gives a helper as its model: ``self.config.guard``."""
    given = helper.given(site, helper.model)
    return dotted(given) if isinstance(given, ast.Attribute) else None


def _lists(place: Syntax, given: ast.expr) -> Iterator[ast.expr]:
    if not isinstance(given, ast.Name):
        yield given
        return
    owner = place.owner(given)
    if any(grown_list(node) == given.id for node in place.owned_by(owner)):
        yield given  # it goes on
    yield from place.values_of(given) or [given]
