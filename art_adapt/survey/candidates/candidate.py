"""Describes a function that may run an episode, for the features that are asked of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.classes import FunctionKey
from art_adapt.code.nodes import Function
from art_adapt.code.project import Project
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.code.trials import is_trial
from art_adapt.survey.calls.asking import Asking
from art_adapt.survey.calls.feeding_back import feeds_back
from art_adapt.survey.candidates.handed import takes_anything
from art_adapt.survey.candidates.launches import (
    asks_by_turns,
    asks_for_turns,
    goes_through_rows,
    is_batch,
    is_example,
    is_launch,
    only_registers,
)
from art_adapt.survey.candidates.leads import Leads
from art_adapt.survey.candidates.showing import shows_a_stage
from art_adapt.survey.candidates.starts import (
    begins,
    extends_a_driver,
    starts_conversation,
    writes_messages,
)
from art_adapt.survey.model import EntryPoint
from art_adapt.survey.side_effects.effects import waits_for_a_person


@dataclass(frozen=True)
class Candidate:
    """A function that reaches a policy call.

    ``replying``: where the model is asked by what returns its reply (``replying_sites``).
    ``driven``: what a loop at module level runs that drives a conversation.
    """

    leads: Leads
    entry: EntryPoint
    replying: frozenset[ast.AST]
    driven: set[FunctionKey]

    @property
    def key(self) -> FunctionKey:
        return self.entry.key

    @cached_property
    def syntax(self) -> Syntax:
        return self.leads.syntax(self.key)

    @cached_property
    def function(self) -> Function:
        return self.syntax.functions[self.entry.name]

    @property
    def name(self) -> str:
        return self.function.node.name

    @cached_property
    def drives(self) -> bool:
        return self.leads.drives(self.key) or extends_a_driver(self.leads, self.key)

    @cached_property
    def composes(self) -> bool:
        return composes(self.leads, self.key)

    @cached_property
    def runs_stages(self) -> bool:
        return _runs_stages(self.leads, self.key)

    @cached_property
    def writes(self) -> bool:
        return writes_messages(self.leads, self.key)

    @cached_property
    def starts(self) -> bool:
        return self.writes or starts_conversation(self.leads, self.key)

    @cached_property
    def chats(self) -> bool:
        return asks_for_turns(self.leads, self.key)

    @cached_property
    def keeps_what_is_said(self) -> bool:
        """True if it tells helpers, which keep nothing, what the model has said before.

        One that is handed something, as a parsed command line, may be run by what parses it.
        """
        return not (self.driving or self.function.given) and self.feeds_back

    @cached_property
    def feeds_back(self) -> bool:
        """True if a question is made of what the model said before."""
        return feeds_back(self.leads.asking, self.syntax, self.entry.name)

    @cached_property
    def sets_what_is_read(self) -> bool:
        return self.leads.sets_what_it_runs(self.key)

    @cached_property
    def batches(self) -> bool:
        return is_batch(self.leads, self.key)

    @cached_property
    def goes_through_rows(self) -> bool:
        """True if it asks for each of some rows, and is told of none what another one led to."""
        return not self.feeds_back and goes_through_rows(self.leads, self.key)

    @cached_property
    def driving(self) -> set[FunctionKey]:
        """Return the functions that it calls and that drive a conversation each."""
        return {each for drivers in self._drivers.values() for each in drivers}

    @cached_property
    def continued(self) -> set[FunctionKey]:
        """Return the functions among ``driving`` that it hands what the model said before."""
        return {
            each
            for called, drivers in self._drivers.items()
            if _hands_reply(self, self.key, called)
            for each in drivers
        }

    @cached_property
    def _drivers(self) -> dict[FunctionKey, set[FunctionKey]]:
        """Return what drives a conversation, by the function that leads to it from here."""
        called_by = self.leads.called_by(self.key)
        return {each: _drivers(self.leads, self.key, each) for each in called_by}

    @cached_property
    def is_handed_reply(self) -> bool:
        """True if all that use it hand it what the model said to them before."""
        uses = [
            (caller, called)
            for caller, called in _uses(self.leads, self.key)
            if caller not in (self.key, *self.around)
            and not is_trial(caller[0], self.key[0])
        ]
        return bool(uses) and all(
            _hands_reply(self, caller, called) for caller, called in uses
        )

    @cached_property
    def is_step_of_module(self) -> bool:
        """True if a loop at module level drives a conversation, of which it makes a turn."""
        if self.drives or self.composes or self.driving:
            return False
        return self.key in self.driven

    @cached_property
    def around(self) -> set[FunctionKey]:
        """Return the other functions of a recursion that it is in."""
        return self.leads.graph.recursion(self.key)

    @cached_property
    def users(self) -> list[FunctionKey]:
        """Return its callers that may be an agent of which it is a part."""
        return [] if self.is_started else self._counting

    @cached_property
    def is_started(self) -> bool:
        """True if the project starts it with a task, though something calls it."""
        return (
            takes_anything(self.entry)
            and not any(_carries(self.leads, each) for each in self._counting)
            and _is_started_itself(self.leads, self.key, self._counting)
        )

    @cached_property
    def _counting(self) -> list[FunctionKey]:
        return [
            caller
            for caller in dict(_uses(self.leads, self.key))
            if caller in self.leads.reaching
            and caller not in (self.key, *self.around)
            and _counts(self.leads, caller)
            and not only_registers(
                self.leads.syntax(caller),
                self.leads.graph.sites.get((caller, self.key), ()),
            )
        ]


def _uses(
    leads: Leads, key: FunctionKey, depth: int = 2
) -> Iterator[tuple[FunctionKey, FunctionKey]]:
    """Yield the callers of a function, each with what it calls: the function, or a way to it.

    A way is a helper that asks nothing else, as one that waits for a semaphore.
    """
    for caller in leads.graph.callers(key):
        asked = leads.called_by(caller) & leads.reaching
        is_way = asked == {key} and _is_helper(leads, caller)
        outer = list(_uses(leads, caller, depth - 1)) if depth and is_way else []
        yield from outer or [(caller, key)]


def _counts(leads: Leads, caller: FunctionKey) -> bool:
    """True if a caller is more than a start, an example, a batch or a chat of an agent.

    A start whose own loop drives the conversation is: ``main()`` that plays a game.
    """
    if _carries(leads, caller):
        return True
    is_start = (
        is_launch(leads.project, caller)
        or is_example(leads, caller)
        or is_batch(leads, caller)
    )
    counts = leads.drives(caller) or not is_start
    return counts and not _only_chats(leads, caller)


def _carries(leads: Leads, caller: FunctionKey) -> bool:
    """True if a caller begins the conversation, lets what it calls go on, or runs stages of it."""
    return (
        begins(leads, caller) or leads.lets_go_on(caller) or _runs_stages(leads, caller)
    )


def _runs_stages(leads: Leads, key: FunctionKey) -> bool:
    """True if a function hands what a stage gave to the next one, as one episode.

    Where a person is asked as well, what an early stage gave must not be shown: it would be
    an answer, and the next stage another question about it.
    """
    return composes(leads, key) or (
        _hands_over(leads, key)
        and not shows_a_stage(leads.syntax(key), key[1], leads.asking)
    )


def _only_chats(leads: Leads, key: FunctionKey) -> bool:
    """True if a function asks a person by turns, and runs an agent with what is typed."""
    syntax = leads.syntax(key)
    by_turns = asks_by_turns(syntax, syntax.functions[key[1]], leads.asking)
    return by_turns and not asks_for_turns(leads, key)


def driven_at_module_level(
    project: Project, graph: CallGraph, asking: Asking
) -> set[FunctionKey]:
    """Return what the loops at module level run that drive a conversation."""
    found: set[FunctionKey] = set()
    for path, syntax in project.files.items():
        module = (path, MODULE_LEVEL)
        loops = asking.driving_loops(syntax, MODULE_LEVEL)
        inside = {node for loop in loops for node in ast.walk(loop)}
        found |= {
            callee
            for callee in graph.certain.get(module, ())
            if not inside.isdisjoint(graph.sites[module, callee])
        }
    return graph.run_by(found)


def _hands_reply(
    candidate: Candidate, caller: FunctionKey, callee: FunctionKey
) -> bool:
    """True if a caller hands a function what the model said to it before."""
    leads = candidate.leads
    syntax, function = leads.syntax(caller), leads.function(caller)
    if function is None:
        return False
    calls = [n for n in syntax.owned_by(caller[1]) if isinstance(n, ast.Call)]
    replies = [
        call for call in calls if not candidate.replying.isdisjoint(ast.walk(call.func))
    ]
    sites = leads.graph.sites.get((caller, callee), ())
    return any(
        leads.asking.hands_on(syntax, function.qualname, call, replies)
        for call in calls
        if call.func in sites
    )


def composes(leads: Leads, key: FunctionKey) -> bool:
    """True if a function runs an agent's stages one after the other, and asks nobody."""
    syntax = leads.syntax(key)
    return _hands_over(leads, key) and not waits_for_a_person(syntax, {key[1]})


def _hands_over(leads: Leads, key: FunctionKey) -> bool:
    """True if a function hands what one stage of an agent gave to the next one."""
    syntax, function = leads.syntax(key), leads.function(key)
    return function is not None and leads.asking.composes(syntax, function)


def _is_started_itself(
    leads: Leads, key: FunctionKey, callers: Sequence[FunctionKey]
) -> bool:
    """True if the project starts a function itself, and nothing those that call it.

    ``chat_aloud`` that calls ``chat`` is another way to use an agent of which the
    project uses ``chat``.
    """
    if not callers or any(map(leads.graph.callers, callers)):
        return False
    return any(
        is_launch(leads.project, caller) and caller[0] in leads.project.given
        for caller in leads.graph.callers(key)
    )


def _drivers(
    leads: Leads, caller: FunctionKey, called: FunctionKey, depth: int = 2
) -> set[FunctionKey]:
    """Return the functions that drive a conversation each where a caller calls a function.

    A helper in the caller's file that calls such functions hands them on.
    """
    if leads.drives(called):
        return {called}
    found: set[FunctionKey] = set()
    if depth and called[0] == caller[0] and _is_helper(leads, called):
        for each in leads.called_by(called):
            found |= _drivers(leads, called, each, depth - 1)
    return found


def _is_helper(leads: Leads, key: FunctionKey) -> bool:
    """True if a function is private, or defined in another one."""
    function = leads.function(key)
    return is_private(key[1]) or (function is not None and function.nested)


def is_private(qualname: str) -> bool:
    return qualname.rpartition(".")[2].startswith("_")
