"""Says how likely it is that a function runs an episode, from the structure before its name."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.classes import FunctionKey
from art_adapt.code.nodes import Function, dotted
from art_adapt.code.project import Project
from art_adapt.code.syntax import LOOPS, MODULE_LEVEL, Syntax, return_values
from art_adapt.survey.calls.asking import Asking
from art_adapt.survey.candidates.handed import (
    is_handed_a_prompt,
    is_handed_an_agent,
    is_only_given,
    takes_anything,
)
from art_adapt.survey.candidates.launches import (
    asks_by_turns,
    asks_for_turns,
    is_asked_by_a_person,
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

RUNS = re.compile(
    r"^(run|solve|answer|ask|chat|agent|execute|invoke|process|query|research|investigate|complete|play|respond|reply|act|handle|generate|predict|react|work|__call__)"
    r"|_(agent|loop|task|question|query|chat|episode)$"
)
PROBES = re.compile(
    r"health|ping|(test|check|verify)_(connection|api|key)|is_available|^retry(_|$)"
)


@dataclass(frozen=True)
class _Candidate:
    """A function that reaches a policy call, with what its score follows from.

    ``reaching``: all such functions. ``driving``: the functions that it calls and that
    drive a conversation each.
    """

    project: Project
    graph: CallGraph
    entry: EntryPoint
    reaching: set[FunctionKey]
    asking: Asking

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
        return _composes(self.syntax, self.function, self.asking)

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
        return _driving(self.project, self.graph, self.key, self.asking)


def likelihood(
    project: Project,
    graph: CallGraph,
    entry: EntryPoint,
    reaching: set[FunctionKey],
    asking: Asking,
) -> int:
    """Say how likely it is that ``entry`` runs an episode: the higher, the likelier.

    The numbers only mean something beside those of the other candidates.
    """
    candidate = _Candidate(project, graph, entry, reaching, asking)
    return (
        _by_its_signature(candidate)
        + _by_what_it_is_for(candidate)
        + _by_how_it_asks(candidate)
        + _by_its_callers(candidate)
    )


def _by_its_signature(candidate: _Candidate) -> int:
    entry, name = candidate.entry, candidate.name
    score = 2 if entry.place.path in candidate.project.given else 0
    if RUNS.search(name):
        score += 2
    if name.startswith("_") and name != "__call__":
        score -= 3
    if any(p.default is None and not p.is_client for p in entry.parameters):
        score += 2
    if any(
        not isinstance(value, ast.Constant)
        for value in return_values(candidate.syntax, entry.name)
    ):
        score += 2
    return score - 2 if entry.is_generator else score


def _by_what_it_is_for(candidate: _Candidate) -> int:
    """Lower what starts, shows or tries an agent, or runs it for each of some rows."""
    project, graph, key = candidate.project, candidate.graph, candidate.key
    reaching, asking = candidate.reaching, candidate.asking
    own = candidate.drives or candidate.composes or candidate.starts
    score = 0
    if (
        candidate.batches
        or PROBES.search(candidate.name)
        or (is_launch(project, key) and not (own or candidate.chats))
        or (not own and is_example(project, graph, key, reaching))
    ):
        score -= 5
    if candidate.chats:
        score += 6
    elif not candidate.starts and asks_by_turns(
        candidate.syntax, candidate.function, asking
    ):
        score -= 8
    elif is_asked_by_a_person(project, graph, candidate.entry, reaching):
        score -= 16
    if any(
        caller in reaching and caller != key and not is_launch(project, caller)
        for caller, callee in graph.tabled
        if callee == key and not graph.leads_to(key, caller)
    ):
        score -= 10  # a tool of another conversation, or an agent that is chosen there
    return score


def _by_how_it_asks(candidate: _Candidate) -> int:
    """Raise what drives or composes a conversation, lower what only sends one."""
    syntax, function = candidate.syntax, candidate.function
    asking, driving = candidate.asking, candidate.driving
    score = 0
    if candidate.composes and not driving:
        score += 6
    if asking.only_sends(syntax, function) and not driving:
        score -= 8
    if _is_read_later(syntax, function, asking):
        score -= 8
    if candidate.writes:
        score += 3
    if candidate.drives:
        score += 5
    elif any(_is_private(name) and at == candidate.key[0] for at, name in driving):
        score += 4
    elif not candidate.batches and any(
        isinstance(node, LOOPS) and asking.asks(node)
        for node in syntax.owned_by(function.qualname)
    ):
        score += 2
    if len(driving) > 1 and not _is_private(candidate.key[1]):  # it runs one of them
        score += 8
    return score


def _by_its_callers(candidate: _Candidate) -> int:
    """Lower what other candidates start, have as a part, or hand an agent to."""
    project, graph, entry = candidate.project, candidate.graph, candidate.entry
    key, asking, reaching = candidate.key, candidate.asking, candidate.reaching
    around = graph.recursion(key)
    score = -12 if around and not _is_started(graph, key, around) else 0
    callers = [
        caller
        for caller in graph.callers(key)
        if caller in reaching
        and caller not in (key, *around)
        and _counts(candidate, caller)
    ]
    is_started = any(begins(project, graph, c, asking) for c in callers)
    if (
        takes_anything(entry)
        and not is_started
        and _is_started_itself(project, graph, key, callers)
    ):
        callers = []
        score += 1
    if not callers:
        return score
    if not takes_anything(entry) and any(
        project.files[path].functions[name].parameters for path, name in callers
    ):
        score -= 8  # what differs between episodes is told before it runs
    whole = (
        candidate.drives
        and not candidate.name.startswith("_")
        and not asking.is_given(candidate.syntax, candidate.function)
    )
    is_begun = is_only_given(project, entry, asking) and any(
        writes_messages(project, graph, c, asking) for c in callers
    )
    if is_begun or is_handed_an_agent(entry) or is_handed_a_prompt(entry):
        score -= 8
    elif not (
        whole and _is_used_as_a_whole(project, graph, key, callers, reaching, asking)
    ):
        score -= 6 if whole else 4
    if asking.only_relays(candidate.syntax, candidate.function):
        score -= 4
    return score


def _counts(candidate: _Candidate, caller: FunctionKey) -> bool:
    """Whether a caller is more than a start, an example, a batch or a chat of an agent."""
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


def _is_used_as_a_whole(
    project: Project,
    graph: CallGraph,
    key: FunctionKey,
    callers: Sequence[FunctionKey],
    reaching: set[FunctionKey],
    asking: Asking,
) -> bool:
    """Whether the callers of a whole agent only use it.

    A caller that drives a loop itself, or that asks the model elsewhere as well, has it
    as a part.
    """
    for path, qualname in callers:
        syntax = project.files[path]
        if qualname == MODULE_LEVEL:
            continue
        if asking.drives(syntax, syntax.functions[qualname]):
            return False
        others = graph.certain.get((path, qualname), set()) - {key, (path, qualname)}
        if others & reaching:
            return False
    return True


def _only_chats(
    project: Project,
    graph: CallGraph,
    key: FunctionKey,
    reaching: set[FunctionKey],
    asking: Asking,
) -> bool:
    """Whether a function asks a person by turns, and runs an agent with what is typed."""
    syntax = project.files[key[0]]
    return asks_by_turns(
        syntax, syntax.functions[key[1]], asking
    ) and not asks_for_turns(project, graph, key, reaching)


def _is_read_later(syntax: Syntax, function: Function, asking: Asking) -> bool:
    """Whether a method keeps a completion in its object, for another one to read.

    That is ``client.query(prompt)``, which keeps a stream, before ``client.receive()``.
    """
    nodes = list(syntax.owned_by(function.qualname))
    kept = {
        dotted(node.targets[0])
        for node in nodes
        if isinstance(node, ast.Assign)
        and any(map(asking.completes, (node.value, *syntax.values_of(node.value))))
    }
    return any(name and name.startswith("self.") for name in kept) and not any(
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and dotted(node) in kept
        for node in nodes
    )


def _composes(syntax: Syntax, function: Function, asking: Asking) -> bool:
    """Whether a function runs an agent's stages one after the other, and asks nobody."""
    return asking.composes(syntax, function) and not waits_for_a_person(
        syntax, function
    )


def _composes_at(project: Project, key: FunctionKey, asking: Asking) -> bool:
    syntax = project.files[key[0]]
    function = syntax.functions.get(key[1])
    return function is not None and _composes(syntax, function, asking)


def _is_started_itself(
    project: Project,
    graph: CallGraph,
    key: FunctionKey,
    callers: Sequence[FunctionKey],
) -> bool:
    """Whether the project starts a function itself, and nothing those that call it.

    ``chat_aloud`` that calls ``chat`` is another way to use an agent of which the
    project uses ``chat``.
    """
    if not callers or any(graph.callers(caller) for caller in callers):
        return False
    return any(
        is_launch(project, caller) and caller[0] in project.given
        for caller in graph.callers(key)
    )


def _is_started(graph: CallGraph, key: FunctionKey, around: set[FunctionKey]) -> bool:
    """Whether something starts a recursion with this function of it, or none of them.

    Who makes an object starts nothing yet.
    """
    started = {
        each
        for each in (key, *around)
        if not each[1].endswith(".__init__")
        and set(graph.callers(each)) - around - {key, each}
    }
    return key in started or not started


def _driving(
    project: Project, graph: CallGraph, key: FunctionKey, asking: Asking, depth: int = 2
) -> set[FunctionKey]:
    """The functions that a function calls and that each drive a conversation.

    A private one of its file that calls such functions hands them on.
    """
    found: set[FunctionKey] = set()
    for path, name in graph.certain.get(key, set()) - {key}:
        if asking.drives(project.files[path], project.files[path].functions[name]):
            found.add((path, name))
        elif depth and path == key[0] and _is_private(name):
            found |= _driving(project, graph, (path, name), asking, depth - 1)
    return found


def _is_private(qualname: str) -> bool:
    return qualname.rpartition(".")[2].startswith("_")
