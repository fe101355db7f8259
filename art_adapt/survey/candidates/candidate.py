"""Describes a function that may run an episode, for the features that are asked of it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.classes import FunctionKey
from art_adapt.code.nodes import Function
from art_adapt.code.project import Project
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.code.trials import is_trial
from art_adapt.survey.calls.asking import Asking
from art_adapt.survey.candidates.handed import takes_anything
from art_adapt.survey.candidates.launches import (
    asks_by_turns,
    asks_for_turns,
    is_batch,
    is_example,
    is_launch,
    waits_for_a_person,
)
from art_adapt.survey.candidates.starts import (
    begins,
    extends_a_driver,
    starts_conversation,
    writes_messages,
)
from art_adapt.survey.model import EntryPoint


@dataclass(frozen=True)
class Candidate:
    """A function that reaches a policy call; ``reaching`` are all such functions.

    ``replying``: where the model is asked by what returns its reply (``replying_sites``).
    ``driven``: what a loop at module level runs that drives a conversation.
    """

    project: Project
    graph: CallGraph
    entry: EntryPoint
    reaching: set[FunctionKey]
    asking: Asking
    replying: frozenset[ast.AST]
    driven: set[FunctionKey]

    @property
    def key(self) -> FunctionKey:
        return self.entry.key

    @cached_property
    def syntax(self) -> Syntax:
        return self.project.files[self.entry.place.path]

    @cached_property
    def function(self) -> Function:
        return self.syntax.functions[self.entry.name]

    @property
    def name(self) -> str:
        return self.function.node.name

    @cached_property
    def drives(self) -> bool:
        return self.asking.drives(self.syntax, self.function) or extends_a_driver(
            self.project, self.key, self.asking
        )

    @cached_property
    def composes(self) -> bool:
        return composes(self.syntax, self.function, self.asking)

    @cached_property
    def writes(self) -> bool:
        return writes_messages(self.project, self.graph, self.key, self.asking)

    @cached_property
    def starts(self) -> bool:
        return self.writes or starts_conversation(
            self.project, self.graph, self.key, self.asking
        )

    @cached_property
    def chats(self) -> bool:
        return asks_for_turns(self.project, self.graph, self.key, self.reaching)

    @cached_property
    def batches(self) -> bool:
        return is_batch(self.project, self.graph, self.key, self.asking)

    @cached_property
    def driving(self) -> set[FunctionKey]:
        """Return the functions that it calls and that drive a conversation each."""
        return _driving(self.project, self.graph, self.key, self.asking)

    @cached_property
    def continued(self) -> set[FunctionKey]:
        """Return the functions among ``driving`` that it hands what the model said before."""
        return {each for each in self.driving if _hands_reply(self, self.key, each)}

    @cached_property
    def is_handed_reply(self) -> bool:
        """True if all that use it hand it what the model said to them before."""
        callers = [
            each
            for each in self.graph.callers(self.key)
            if each not in (self.key, *self.around)
            and not is_trial(each[0], self.key[0])
        ]
        return bool(callers) and all(
            _hands_reply(self, each, self.key) for each in callers
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
        return self.graph.recursion(self.key)

    @cached_property
    def users(self) -> list[FunctionKey]:
        """Return its callers that may be an agent of which it is a part."""
        return [] if self.is_started else self._counting

    @cached_property
    def is_started(self) -> bool:
        """True if the project starts it with a task, though something calls it."""
        project, graph, asking = self.project, self.graph, self.asking
        return (
            takes_anything(self.entry)
            and not any(begins(project, graph, c, asking) for c in self._counting)
            and _is_started_itself(project, graph, self.key, self._counting)
        )

    @cached_property
    def _counting(self) -> list[FunctionKey]:
        return [
            caller
            for caller in self.graph.callers(self.key)
            if caller in self.reaching
            and caller not in (self.key, *self.around)
            and _counts(self, caller)
        ]


def _counts(candidate: Candidate, caller: FunctionKey) -> bool:
    """True if a caller is more than a start, an example, a batch or a chat of an agent."""
    project, graph = candidate.project, candidate.graph
    asking, reaching = candidate.asking, candidate.reaching
    return (
        _composes_at(project, caller, asking)
        or begins(project, graph, caller, asking)
        or not (
            is_launch(project, caller)
            or is_example(project, graph, caller, reaching)
            or is_batch(project, graph, caller, asking)
            or _only_chats(project, graph, caller, reaching, asking)
        )
    )


def _only_chats(
    project: Project,
    graph: CallGraph,
    key: FunctionKey,
    reaching: set[FunctionKey],
    asking: Asking,
) -> bool:
    """True if a function asks a person by turns, and runs an agent with what is typed."""
    syntax = project.files[key[0]]
    return asks_by_turns(
        syntax, syntax.functions[key[1]], asking
    ) and not asks_for_turns(project, graph, key, reaching)


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
    syntax = candidate.project.files[caller[0]]
    function = syntax.functions.get(caller[1])
    if function is None:
        return False
    calls = [n for n in syntax.owned_by(caller[1]) if isinstance(n, ast.Call)]
    replies = [
        call for call in calls if not candidate.replying.isdisjoint(ast.walk(call.func))
    ]
    sites = candidate.graph.sites.get((caller, callee), ())
    return any(
        candidate.asking.hands_on(syntax, function, call, replies)
        for call in calls
        if call.func in sites
    )


def composes(syntax: Syntax, function: Function, asking: Asking) -> bool:
    """True if a function runs an agent's stages one after the other, and asks nobody."""
    return asking.composes(syntax, function) and not waits_for_a_person(
        syntax, function
    )


def _composes_at(project: Project, key: FunctionKey, asking: Asking) -> bool:
    syntax = project.files[key[0]]
    function = syntax.functions.get(key[1])
    return function is not None and composes(syntax, function, asking)


def _is_started_itself(
    project: Project,
    graph: CallGraph,
    key: FunctionKey,
    callers: Sequence[FunctionKey],
) -> bool:
    """True if the project starts a function itself, and nothing those that call it.

    ``chat_aloud`` that calls ``chat`` is another way to use an agent of which the
    project uses ``chat``.
    """
    if not callers or any(graph.callers(caller) for caller in callers):
        return False
    return any(
        is_launch(project, caller) and caller[0] in project.given
        for caller in graph.callers(key)
    )


def _driving(
    project: Project, graph: CallGraph, key: FunctionKey, asking: Asking, depth: int = 2
) -> set[FunctionKey]:
    """Return the functions that a function calls and that each drive a conversation.

    A private one of its file that calls such functions hands them on.
    """
    found: set[FunctionKey] = set()
    for path, name in graph.certain.get(key, set()) - {key}:
        if asking.drives(project.files[path], project.files[path].functions[name]):
            found.add((path, name))
        elif depth and path == key[0] and is_private(name):
            found |= _driving(project, graph, (path, name), asking, depth - 1)
    return found


def is_private(qualname: str) -> bool:
    return qualname.rpartition(".")[2].startswith("_")
