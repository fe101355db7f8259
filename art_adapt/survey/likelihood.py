"""Says how likely it is that a function runs an episode, from the structure before its name."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from art_adapt.survey.asking import Asking
from art_adapt.survey.call_graph import CallGraph
from art_adapt.survey.classes import FunctionKey
from art_adapt.survey.launches import (
    asks_by_turns,
    asks_for_turns,
    is_asked_by_a_person,
    is_batch,
    is_example,
    is_launch,
    waits_for_a_person,
)
from art_adapt.survey.model import EntryPoint
from art_adapt.survey.nodes import Function, dotted
from art_adapt.survey.project import Project
from art_adapt.survey.starts import (
    begins,
    extends_a_driver,
    starts_conversation,
    writes_messages,
)
from art_adapt.survey.syntax import LOOPS, MODULE_LEVEL, Syntax, return_values

RUNS = re.compile(
    r"^(run|solve|answer|ask|chat|agent|execute|invoke|process|query|research|investigate|complete|play|respond|reply|act|handle|generate|predict|react|work|__call__)"
    r"|_(agent|loop|task|question|query|chat|episode)$"
)
PROBES = re.compile(
    r"health|ping|(test|check|verify)_(connection|api|key)|is_available|^retry(_|$)"
)
# What an agent has of its own: a function that has to be given several drives for others.
GIVEN = re.compile(r"^(system|instructions)|tools$|schemas$|dispatch")
# What limits or reads an answer, and is no task: n_retry: int, parser: Callable.
NO_TASK = re.compile(r"^(int|float|bool)\b|\b[Cc]allable\b")
SETTING = re.compile(r"^(True|False|\d[\d._]*)$")
PROMPT = re.compile(r"^(system|instructions)")


def likelihood(
    project: Project,
    graph: CallGraph,
    entry: EntryPoint,
    reaching: set[FunctionKey],
    asking: Asking,
) -> int:
    key = entry.key
    syntax = project.files[entry.place.path]
    function = syntax.functions[entry.name]
    name = function.node.name
    drives = asking.drives(syntax, function) or extends_a_driver(project, key, asking)
    composes = _composes(syntax, function, asking)
    writes = writes_messages(project, graph, key, asking)
    starts = writes or starts_conversation(project, graph, key, asking)
    chats = asks_for_turns(project, graph, key, reaching)
    score = 2 if entry.place.path in project.given else 0
    if RUNS.search(name):
        score += 2
    batch = is_batch(project, graph, key, asking)
    if (
        batch
        or PROBES.search(name)
        or (is_launch(project, key) and not (drives or composes or chats or starts))
        or (
            not (drives or composes or starts)
            and is_example(project, graph, key, reaching)
        )
    ):
        score -= 5
    if chats:
        score += 6
    elif not starts and asks_by_turns(syntax, function, asking):
        score -= 8
    elif is_asked_by_a_person(project, graph, entry, reaching):
        score -= 16
    driving = _driving(project, graph, key, asking)
    if composes and not driving:
        score += 6
    if asking.only_sends(syntax, function) and not driving:
        score -= 8
    if _is_read_later(syntax, function, asking):
        score -= 8
    if name.startswith("_") and name != "__call__":
        score -= 3
    if any(
        not parameter.is_client and parameter.default is None
        for parameter in entry.parameters
    ):
        score += 2
    if any(
        not isinstance(value, ast.Constant)
        for value in return_values(syntax, function.qualname)
    ):
        score += 2
    if writes:
        score += 3
    if drives:
        score += 5
    elif any(_is_private(name) and at == key[0] for at, name in driving):
        score += 4
    elif not batch and any(
        isinstance(node, LOOPS) and asking.asks(node)
        for node in syntax.owned_by(function.qualname)
    ):
        score += 2
    if any(
        caller in reaching and caller != key and not is_launch(project, caller)
        for caller, callee in graph.tabled
        if callee == key and not graph.leads_to(key, caller)
    ):
        score -= 10  # a tool of another conversation, or an agent that is chosen there
    around = graph.recursion(key)
    if around and not _is_started(graph, key, around):
        score -= 12
    callers = [
        c
        for c in graph.callers(key)
        if c in reaching
        and c != key
        and c not in around
        and (
            _composes_at(project, c, asking)
            or begins(project, graph, c, asking)
            or not (
                is_launch(project, c)
                or is_example(project, graph, c, reaching)
                or is_batch(project, graph, c, asking)
                or _only_chats(project, graph, c, reaching, asking)
            )
        )
    ]
    is_started = any(begins(project, graph, c, asking) for c in callers)
    if (
        takes_anything(entry)
        and not is_started
        and _is_started_itself(project, graph, key, callers)
    ):
        callers = []
        score += 1
    if not takes_anything(entry) and any(
        project.files[path].functions[name].parameters for path, name in callers
    ):
        score -= 8  # what differs between episodes is told before it runs
    if len(driving) > 1 and not _is_private(key[1]):  # it runs one of them
        score += 8
    whole = (
        drives and not name.startswith("_") and not asking.is_given(syntax, function)
    )
    is_begun = is_only_given(project, entry, asking) and any(
        writes_messages(project, graph, c, asking) for c in callers
    )
    is_handed = is_handed_an_agent(entry) or is_handed_a_prompt(entry)
    if is_begun or (callers and is_handed):
        score -= 8
    elif callers and not (
        whole and _is_used_as_a_whole(project, graph, key, callers, reaching, asking)
    ):
        score -= 6 if whole else 4
    if callers and asking.only_relays(syntax, function):
        score -= 4
    if entry.is_generator:
        score -= 2
    return score


def is_handed_an_agent(entry: EntryPoint) -> bool:
    """Whether an entry point has to be given several things that are an agent's own."""
    required = [each.name for each in entry.parameters if each.default is None]
    return sum(GIVEN.search(each) is not None for each in required) > 1


def is_handed_a_prompt(entry: EntryPoint) -> bool:
    """Whether an entry point has to be given the system prompt: ``ask(system, user)``."""
    return any(p.default is None and PROMPT.search(p.name) for p in entry.parameters)


def is_only_given(project: Project, entry: EntryPoint, asking: Asking) -> bool:
    """Whether all that tells an entry point its task is a conversation: ``run(messages)``."""
    syntax = project.files[entry.place.path]
    given = asking.is_given(syntax, syntax.functions[entry.name])
    others = (
        each
        for each in entry.parameters
        if each.default is None
        and not (each.is_client or each.is_object or each.supplied)
        and each.name not in given
        and not NO_TASK.search(each.annotation or "")
    )
    return bool(given) and all(GIVEN.search(each.name) for each in others)


def takes_anything(entry: EntryPoint) -> bool:
    """Whether an entry point takes anything that JSON could hold, beside switches and limits."""
    required = [p for p in entry.constructor if p.default is None]
    return any(
        not (each.is_client or each.is_object or SETTING.search(each.default or ""))
        for each in (*entry.parameters, *required)
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
