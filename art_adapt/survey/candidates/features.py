"""Says what speaks for and against a function as the one that runs an episode.

Each feature is a function with what it says; ``weights`` has how much each counts.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.classes import FunctionKey
from art_adapt.code.nodes import Function, dotted
from art_adapt.code.syntax import LOOPS, MODULE_LEVEL, Syntax, return_values
from art_adapt.survey.calls.asking import Asking
from art_adapt.survey.calls.growth import only_tries_again
from art_adapt.survey.candidates.candidate import Candidate, is_private
from art_adapt.survey.candidates.candidate import composes as composes_stages
from art_adapt.survey.candidates.handed import (
    is_handed_a_prompt,
    is_handed_an_agent,
    is_handed_arguments,
    is_only_given,
    takes_anything,
)
from art_adapt.survey.candidates.launches import (
    asks_by_turns,
    is_asked_by_a_person,
    is_example,
    is_launch,
    leaves_it_running,
)
from art_adapt.survey.candidates.leads import Leads
from art_adapt.survey.candidates.starts import has_its_text_written, writes_messages
from art_adapt.survey.inputs.instances import is_abstract
from art_adapt.survey.inputs.run_state import is_page_state
from art_adapt.words import PROBES, RUNS_EPISODE, TRIES_AGAIN


@dataclass(frozen=True)
class Feature:
    """Something that is so of a candidate or not; ``says`` is what a user reads."""

    name: str
    says: str
    holds: Callable[[Candidate], bool]


FEATURES: list[Feature] = []


def _feature(
    says: str,
) -> Callable[[Callable[[Candidate], bool]], Callable[[Candidate], bool]]:
    def added(holds: Callable[[Candidate], bool]) -> Callable[[Candidate], bool]:
        FEATURES.append(Feature(holds.__name__, says, holds))
        return holds

    return added


# Its signature


@_feature("it is in a file that you named")
def named_file(candidate: Candidate) -> bool:
    return candidate.entry.place.path in candidate.leads.project.given


@_feature("it is named as what runs an agent")
def run_name(candidate: Candidate) -> bool:
    return RUNS_EPISODE.search(candidate.name) is not None


@_feature("its name is private")
def private_name(candidate: Candidate) -> bool:
    return is_private(candidate.name) and candidate.name != "__call__"


@_feature("it takes a required argument")
def takes_a_task(candidate: Candidate) -> bool:
    parameters = candidate.entry.parameters
    return any(p.default is None and not p.is_client for p in parameters)


@_feature("it returns what it made")
def returns_something(candidate: Candidate) -> bool:
    returned = return_values(candidate.syntax, candidate.entry.name)
    return any(not isinstance(value, ast.Constant) for value in returned)


@_feature("it yields")
def yields(candidate: Candidate) -> bool:
    return candidate.entry.is_generator


# What it is for


@_feature("it starts, shows or tries an agent, or runs it for each of some rows")
def starts_or_tries(candidate: Candidate) -> bool:
    leads, key = candidate.leads, candidate.key
    own = candidate.drives or candidate.composes or candidate.starts
    own = own or candidate.keeps_what_is_said or candidate.sets_what_is_read
    return bool(
        candidate.batches
        or PROBES.search(candidate.name)
        or TRIES_AGAIN.search(candidate.name)
        or leaves_it_running(candidate.syntax, candidate.function, leads.asking)
        or (is_launch(leads.project, key) and not (own or candidate.chats))
        or (not own and is_example(leads, key))
    )


@_feature("it chats: its own loop asks a person and the model by turns")
def chats(candidate: Candidate) -> bool:
    return candidate.chats


@_feature("a person types what it hands on, turn by turn")
def relays_a_person(candidate: Candidate) -> bool:
    if candidate.chats or candidate.starts or candidate.keeps_what_is_said:
        return False
    if candidate.sets_what_is_read or candidate.runs_stages:
        return False
    asking = candidate.leads.asking
    return asks_by_turns(candidate.syntax, candidate.function, asking)


@_feature("it makes one turn of a chat with a person")
def turn_of_a_chat(candidate: Candidate) -> bool:
    return not (candidate.chats or relays_a_person(candidate)) and is_asked_by_a_person(
        candidate.leads, candidate.entry
    )


@_feature("a table of tools or agents leads to it")
def in_a_table(candidate: Candidate) -> bool:
    leads, key = candidate.leads, candidate.key
    return any(
        caller in leads.reaching
        and caller != key
        and not is_launch(leads.project, caller)
        for caller, callee in leads.graph.tabled
        if callee == key and not leads.graph.leads_to(key, caller)
    )


# How it asks


@_feature("it runs the stages of an agent one after the other")
def composes(candidate: Candidate) -> bool:
    return candidate.composes and not candidate.driving - candidate.continued


@_feature("it only sends the messages that it is given")
def only_sends(candidate: Candidate) -> bool:
    syntax, function = candidate.syntax, candidate.function
    return candidate.leads.asking.only_sends(syntax, function) and not candidate.driving


@_feature("another method reads what the model said to it")
def read_later(candidate: Candidate) -> bool:
    return _is_read_later(candidate.syntax, candidate.function, candidate.leads.asking)


@_feature("it writes the first messages")
def writes_first_messages(candidate: Candidate) -> bool:
    return candidate.writes


@_feature("its loop drives the conversation")
def drives(candidate: Candidate) -> bool:
    return candidate.drives


@_feature("a private function of its own drives the conversation")
def drives_privately(candidate: Candidate) -> bool:
    return not candidate.drives and any(
        is_private(name) and at == candidate.key[0] for at, name in candidate.driving
    )


@_feature("it asks the model in a loop")
def asks_in_a_loop(candidate: Candidate) -> bool:
    if candidate.drives or drives_privately(candidate) or candidate.batches:
        return False
    asking = candidate.leads.asking
    return any(
        isinstance(node, LOOPS)
        and asking.asks(node)
        and not only_tries_again(node, asking.growing)
        for node in candidate.syntax.owned_by(candidate.function.qualname)
    )


@_feature("it chooses one of several functions that each drive a conversation")
def runs_one_of_several(candidate: Candidate) -> bool:
    return len(candidate.driving) > 1 and not is_private(candidate.key[1])


# Who uses it


@_feature("it is inside a recursion that another function starts")
def inside_a_recursion(candidate: Candidate) -> bool:
    graph, key, around = candidate.leads.graph, candidate.key, candidate.around
    return bool(around) and not _starts_recursion(graph, key, around)


@_feature("the project starts it with a task")
def started_itself(candidate: Candidate) -> bool:
    return candidate.is_started


@_feature("what differs between episodes is told to its caller")
def told_before(candidate: Candidate) -> bool:
    return not takes_anything(candidate.entry) and any(
        function.parameters
        for function in map(candidate.leads.function, candidate.users)
        if function is not None
    )


@_feature("it reads what only a running page keeps")
def of_a_page(candidate: Candidate) -> bool:
    syntax = candidate.syntax
    return any(
        is_page_state(syntax, node)
        and not isinstance(getattr(syntax.parents[node], "ctx", None), ast.Store)
        for node in syntax.owned_by(candidate.key[1])
        if isinstance(node, ast.Attribute)
    )


@_feature("it reads a variable that only the function that starts it sets")
def set_by_start(candidate: Candidate) -> bool:
    setters = candidate.leads.starts_that_set(candidate.key)
    return any(name != MODULE_LEVEL for _, name in setters)


@_feature("it reads a variable that its file sets only where it is run as a program")
def set_by_module(candidate: Candidate) -> bool:
    setters = candidate.leads.starts_that_set(candidate.key)
    return any(name == MODULE_LEVEL for _, name in setters)


@_feature("its caller hands it an agent, a prompt or a conversation that has begun")
def begun_before(candidate: Candidate) -> bool:
    entry, leads = candidate.entry, candidate.leads
    if not candidate.users:
        return False
    is_begun = is_only_given(leads.project, entry, leads.asking) and any(
        writes_messages(leads, caller) for caller in candidate.users
    )
    return is_begun or is_handed_an_agent(entry) or is_handed_a_prompt(entry)


@_feature("its caller hands it what the model said before")
def handed_a_reply(candidate: Candidate) -> bool:
    return candidate.is_handed_reply


@_feature("its caller hands it the command line that it parsed")
def handed_arguments(candidate: Candidate) -> bool:
    return is_handed_arguments(candidate.leads, candidate.entry)


@_feature("a loop at module level drives the conversation, and it makes one turn")
def step_of_module(candidate: Candidate) -> bool:
    return candidate.is_step_of_module


@_feature("another agent has it as a part, though it is a whole one")
def whole_part(candidate: Candidate) -> bool:
    return _is_part(candidate) and _is_whole(candidate)


@_feature("another candidate calls it")
def part(candidate: Candidate) -> bool:
    return _is_part(candidate) and not _is_whole(candidate)


@_feature("it only relays what its caller asks")
def only_relays(candidate: Candidate) -> bool:
    syntax, function = candidate.syntax, candidate.function
    return (
        bool(candidate.users)
        and candidate.leads.asking.only_relays(syntax, function)
        and not has_its_text_written(candidate.leads, candidate.key)
    )


def _is_whole(candidate: Candidate) -> bool:
    return (
        candidate.drives
        and not candidate.name.startswith("_")
        and not candidate.leads.asking.is_given(candidate.syntax, candidate.function)
    )


def _is_part(candidate: Candidate) -> bool:
    if not candidate.users or begun_before(candidate):
        return False
    return not (
        _is_whole(candidate)
        and not _is_abstract(candidate)
        and _is_used_as_a_whole(candidate.leads, candidate.key, candidate.users)
    )


def _is_abstract(candidate: Candidate) -> bool:
    """True if only what extends its class can be made, and runs it: ``super().run(task)``."""
    owner = candidate.function.class_name
    return owner is not None and is_abstract(
        candidate.leads.project, candidate.syntax, owner
    )


def _is_used_as_a_whole(
    leads: Leads, key: FunctionKey, callers: Sequence[FunctionKey]
) -> bool:
    """True if the callers of a whole agent only use it.

    A caller that drives a loop itself, or that asks the model elsewhere as well, has it
    as a part. So has what runs two of the callers as its stages: they share a loop.
    """
    users = [caller for caller in callers if caller[1] != MODULE_LEVEL]
    return not any(
        leads.drives(user) or (leads.called_by(user) - {key}) & leads.reaching
        for user in users
    ) and not any(
        sum(leads.graph.leads_to(outer, user) for user in users) > 1
        and composes_stages(leads, outer)
        for outer in leads.reaching
        if len(users) > 1
    )


def _is_read_later(syntax: Syntax, function: Function, asking: Asking) -> bool:
    """True if a method keeps a completion in its object, for another one to read.

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


def _starts_recursion(
    graph: CallGraph, key: FunctionKey, around: set[FunctionKey]
) -> bool:
    """True if something starts a recursion with this function of it, or none of them.

    Constructing an object does not start an episode.
    """
    started = {
        each
        for each in (key, *around)
        if not each[1].endswith(".__init__")
        and set(graph.callers(each)) - around - {key, each}
    }
    return key in started or not started
