"""Check that what was inferred of an agent is so: what differs, which loop and tools ran."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from art_adapt.paths import at
from art_adapt.rehearsal.protocol import Trajectory
from art_adapt.rehearsal.replies import is_judgement
from art_adapt.rehearsal.schemas import OWN_TEXT
from art_adapt.rehearsal.scripted_model import Exchange
from art_adapt.rehearsal.seen import (
    Finding,
    Seen,
    asking,
    offered_tools,
    start_of,
    tool_calls,
)

Json = dict[str, Any]

SHORTEST = 3  # characters of a text that would not be in a request by chance
SHOWN = 5  # files
FEWEST_CALLS = 3  # that nothing answered, to tell that it is no chance
# What an exception says whose cause is no argument: a table, a file, a service is missing.
FAILURE = re.compile(
    r"\b(?!Key|Value|Index|Lookup|Validation|JSONDecode)[A-Z][A-Za-z]*Error\b"
    r"|no such (?:table|column)|unable to open database|\bTraceback \("
    r"|has no attribute|is not defined|required positional argument|unexpected keyword argument|"
    + "|".join(re.escape(os.strerror(number)) for number in sorted(errno.errorcode))
)


@dataclass(frozen=True)
class Witness:
    """Something that adapting states of an agent, and whether the rehearsal saw it."""

    statement: str
    seen: bool


def witnesses(seen: Seen) -> Iterator[Witness]:
    """Yield what was seen, and what was not: fields that reach the model, tools that ran."""
    asked = _asked(seen)
    for name, values in _texts(seen).items():
        told = sum(_is_in(value, asked) for value in values)
        statement = f"scenario.{name} is in a request, for {told} of {len(values)}"
        yield Witness(statement, bool(told))
    ran = _answered_tools(seen)
    for name in offered_tools(seen):
        times = ran.count(name)
        yield Witness(f"the tool {name} was called and answered ({times})", bool(times))
    asked_by = asking(seen)
    for name, place in dict(seen.hooked).items() if asked_by else ():
        yield Witness(f"{name} ({at(place)}) asked the model", name in asked_by)
    if seen.written is not None:
        names = ", ".join(sorted(path.as_posix() for path in seen.written)[:SHOWN])
        which = f": {names}" if names else ""
        yield Witness(f"no file of the project was written{which}", not seen.written)


def told_apart(seen: Seen) -> Iterator[Finding]:
    """Report scenarios of which nothing reaches the model: every episode has one task."""
    texts = _texts(seen)
    starts = {json.dumps(start_of(each)) for each in seen.episodes if each.histories}
    several = any(len(values) > 1 for values in texts.values())
    if not several or len(starts) != 1 or len(seen.groups) < 2:
        return
    asked = _asked(seen)
    if any(_is_in(value, asked) for values in texts.values() for value in values):
        return
    names = ", ".join(texts)
    nobody = not any(_has_user(each) for each in seen.episodes)
    yield seen.finding(
        "one task",
        f"nothing of a scenario ({names}) is in any request: all episodes began with the same messages"
        + (", none of them a user's" if nobody else ""),
        "give the agent what differs between scenarios, in episode()",
        r"def episode",
    )


def tool_loop(seen: Seen) -> Iterator[Finding]:
    """Report tool calls that nothing answered, though the agent has code that does."""
    if seen.answers_tools is None:
        return
    called = len(tool_calls(seen))
    if called < FEWEST_CALLS or _answered_tools(seen):
        return
    yield seen.finding(
        "tools never ran",
        f"the model called tools {called} times, and no request had a reply to one: what answers "
        f"them ({at(seen.answers_tools)}) never ran",
        "the function that asks once was taken for the one that runs the loop: name that with --entry",
        r"def episode",
    )


def _texts(seen: Seen) -> dict[str, list[str]]:
    """Return the different texts of each field of the scenarios."""
    found: dict[str, dict[str, None]] = {}
    for scenario in seen.notes.scenarios:
        for name, value in scenario.items() if isinstance(scenario, dict) else ():
            if isinstance(value, str) and len(value) >= SHORTEST:
                found.setdefault(name, {})[value] = None
    return {name: list(values) for name, values in found.items()}


def _asked(seen: Seen) -> str:
    """Return all that was sent to the model in training, but for what it had said."""
    messages = (
        message
        for exchange in seen.log
        if exchange.is_policy and not is_judgement(exchange.request)
        for message in exchange.request.get("messages") or ()
        if message.get("role") != "assistant"
    )
    return json.dumps(list(messages), ensure_ascii=False)


def _is_in(value: str, asked: str) -> bool:
    return json.dumps(value, ensure_ascii=False)[1:-1] in asked


def _has_user(episode: Trajectory) -> bool:
    return any(
        item.message.get("role") == "user"
        for history in episode.histories
        for item in history.items
    )


def none_offered(seen: Seen) -> Iterator[Finding]:
    """Report an agent without tools, though what answers their calls is what ran.

    It is the function that asked, or another one of the same class.
    """
    if seen.answers_tools is None or offered_tools(seen):
        return
    owner = seen.answering.rpartition(".")[0]
    if any(
        name == seen.answering or (owner and name.startswith(f"{owner}."))
        for name in asking(seen)
    ):
        yield seen.finding(
            "none offered",
            f"no request offered a tool, though {seen.answering} answers their calls "
            f"({at(seen.answers_tools)}): the model would learn to do without them",
            "give the agent its tools in episode() (add_tool(...), tools=...), or name another "
            "--entry",
            r"def episode",
        )


def tools_fail(seen: Seen) -> Iterator[Finding]:
    """Report tools that answer every call with what an exception says.

    A call whose arguments do not fit does not count, nor a reply that names an argument:
    the scripted model makes arguments up.
    """
    replies: dict[str, list[str]] = {}
    misled = {id for each in seen.policy if each.fault for id in _call_ids(each)}
    for call, reply in _replies(seen):
        if call["id"] not in misled:
            failure = _failure(reply, str(call["function"]["arguments"]))
            replies.setdefault(_name(call), []).append(failure)
    for name, failures in replies.items():
        if len(failures) >= FEWEST_CALLS and all(failures):
            yield seen.finding(
                "tool fails",
                f"all {len(failures)} replies of the tool {name} say a failure, as "
                f"{failures[0][:100]!r}: the model would learn to do without it",
                "give it what it needs here (a database, a file, a service), or stand in for it "
                "with --stub",
                r"def episode",
            )


def _failure(reply: str, arguments: str) -> str:
    """Return the part of a reply that says a failure; "" if none does, or an argument is why."""
    found = FAILURE.search(reply)
    if found is None or any(text in reply for text in OWN_TEXT.findall(arguments)):
        return ""
    return reply[max(0, found.start() - 20) : found.end() + 60]


def _name(call: Json) -> str:
    return str(call["function"].get("name"))


def _call_ids(exchange: Exchange) -> Iterator[str]:
    for choice in (exchange.response or {})["choices"]:
        for call in choice["message"].get("tool_calls") or ():
            yield str(call["id"])


def _replies(seen: Seen) -> Iterator[tuple[Json, str]]:
    """Yield the calls of tools that a later request has a reply to, each once, with the reply."""
    called = {str(call.get("id")): call for call in tool_calls(seen)}
    for exchange in seen.policy:
        for message in exchange.request.get("messages") or ():
            if message.get("role") == "tool":
                call = called.pop(str(message.get("tool_call_id")), None)
                if call is not None:
                    yield call, str(message.get("content"))


def _answered_tools(seen: Seen) -> list[str]:
    """Return the names of the tools whose calls a later request has a reply to."""
    return [_name(call) for call, _ in _replies(seen)]
