"""Check the tools: that they are offered, that their calls are answered, and not with failures."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from art_adapt.paths import at
from art_adapt.rehearsal.environment import files_of
from art_adapt.rehearsal.parts import EPISODE, line_of
from art_adapt.rehearsal.schemas import OWN_TEXT
from art_adapt.rehearsal.scripted_model import Exchange
from art_adapt.rehearsal.seen import (
    Finding,
    Seen,
    asking,
    offered_tools,
    tool_calls,
    waiting,
)

Json = dict[str, Any]

FEWEST_CALLS = 3  # to tell that it is no chance
# What an exception says whose cause is no argument: a table, a file, a service is missing.
FAILURE = re.compile(
    r"\b(?!Key|Value|Index|Lookup|Validation|JSONDecode)[A-Z][A-Za-z]*Error\b"
    r"|no such (?:table|column)|unable to open database|\bTraceback \("
    r"|not supported between instances of|unsupported operand type"
    r"|has no attribute|is not defined|required positional argument|unexpected keyword argument|"
    + "|".join(re.escape(os.strerror(number)) for number in sorted(errno.errorcode))
)
# What repr() leaves of such an error names no file: it may be the one that an argument named.
NO_FILE = "No such file or directory"
# What it says without a network, which a rehearsal has not.
NETWORK = re.compile(
    r"Connect|Proxy|Timeout|Max retries|SSL|HTTP|urlopen|[Nn]ame or service|getaddrinfo|"
    + "|".join(
        re.escape(os.strerror(number))
        for number in (errno.ECONNREFUSED, errno.ENETUNREACH, errno.EHOSTUNREACH)
    )
)


@dataclass(frozen=True)
class Reply:
    """A tool's answer to a call: the part of it that says a failure, or "".

    ``is_network``: it failed for want of a network. ``is_empty``: it said nothing at all.
    """

    failure: str
    is_network: bool
    is_empty: bool = False


def tool_loop(seen: Seen) -> Iterator[Finding]:
    """Report tool calls that nothing answered, though the agent has code that does."""
    if seen.agent.answers_tools is None:
        return
    # An episode that failed says itself why nothing was answered.
    over = [
        each for each in seen.episodes if each.failure is None and not each.timed_out
    ]
    called = sum(
        len(item.message.get("tool_calls") or ()) for e in over for item in e.choices
    )
    if called < FEWEST_CALLS or any(_answered(seen)) or _has_replies(seen):
        return
    yield seen.finding(
        "tools never ran",
        f"the model called tools {called} times, and no request had a reply: the code that answers "
        f"them ({at(seen.agent.answers_tools)}) never ran",
        "if episode() calls the function that makes one request, and not the one that runs the tool "
        f"loop ({seen.agent.answering}), name the latter with --entry; else look for a branch that the "
        "agent takes instead, such as one on the model's name (BASE_MODEL)",
        seen.agent.answers_tools,
        EPISODE,
    )


def none_offered(seen: Seen) -> Iterator[Finding]:
    """Report an agent without tools, though what answers their calls is what ran.

    It is the function that asked, or another one of the same class.
    """
    if seen.agent.answers_tools is None or offered_tools(seen) or not seen.policy:
        return
    owner = seen.agent.answering.rpartition(".")[0]
    if any(
        name == seen.agent.answering or (owner and name.startswith(f"{owner}."))
        for name in asking(seen)
    ):
        yield seen.finding(
            "none offered",
            f"no request offered a tool, although {seen.agent.answering} answers tool calls "
            f"({at(seen.agent.answers_tools)}): the model would learn to work without tools",
            "give the agent its tools in episode() (add_tool(...), tools=...), or name another "
            "--entry",
            seen.asks,
            EPISODE,
        )


def tools_fail(seen: Seen) -> Iterator[Finding]:
    """Report tools that answer every call with what an exception says, or all of them with nothing.

    A call whose arguments do not fit does not count, nor a reply that names an argument:
    the scripted model makes arguments up.
    """
    for name, told in replies(seen).items():
        own = [each.failure for each in told if each.failure and not each.is_network]
        if len(own) >= FEWEST_CALLS and len(own) == len(told):
            path, line = _place_of(name, seen)
            yield Finding(
                "tool fails",
                f"all {len(own)} replies of the tool {name} report a failure, such as {own[0][:100]!r}: the "
                "model would learn to work without it",
                "provide what the tool needs here (a database, a file, values of the types that the agent "
                "gives it), or replace it with --stub",
                path,
                line,
            )
    told = [each for several in replies(seen).values() for each in several]
    if len(told) >= FEWEST_CALLS and all(each.is_empty for each in told):
        names = ", ".join(sorted(replies(seen)))
        yield seen.finding(
            "tool fails",
            f"all {len(told)} replies of the tools ({names}) are empty: the model would learn to work "
            "without them",
            "if the agent catches an error of a tool and returns '', provide what the tool needs here, "
            "and let its reply say what went wrong",
            seen.agent.answers_tools,
            EPISODE,
        )


def _place_of(tool: str, seen: Seen) -> tuple[Path, int]:
    """Return where the one function of a tool's name begins; else where episode() does.

    What waits for the model runs tools, and is none of them.
    """
    waited = waiting(seen)
    named = [
        syntax.place(function.node)
        for syntax in files_of(seen.path)
        for function in syntax.functions.values()
        if function.node.name == tool and function.qualname not in waited
    ]
    if len(named) == 1:
        return named[0].path, named[0].line
    return seen.path, line_of(seen.syntax, EPISODE)


def replies(seen: Seen) -> dict[str, list[Reply]]:
    """Return what each tool replied to calls that the scripted model did not make wrong."""
    misled = {id for each in seen.policy if each.fault for id in _call_ids(each)}
    found: dict[str, list[Reply]] = {}
    for call, text in _answered(seen):
        if str(call.get("id")) not in misled:
            reply = _reply(text, str(call["function"]["arguments"]))
            found.setdefault(str(call["function"].get("name")), []).append(reply)
    return found


def _reply(text: str, arguments: str) -> Reply:
    """Tell what a reply says; one that names an argument says what is wrong with that.

    A calculator names a part of it, because it takes ``brook-2667240`` for a difference.
    """
    if not text.strip():
        return Reply("", False, is_empty=True)
    found = FAILURE.search(text)
    parts = {part for own in OWN_TEXT.findall(arguments) for part in own.split("-")}
    if found is None or not parts.isdisjoint(re.findall(r"\w+", text)):
        return Reply("", False)
    if parts and NO_FILE in text and f"{NO_FILE}: " not in text:
        return Reply("", False)
    failure = text[max(0, found.start() - 20) : found.end() + 60]
    return Reply(failure, NETWORK.search(text) is not None)


def _has_replies(seen: Seen) -> bool:
    """True if a request had the reply of a tool, whatever call it answers: the code ran."""
    return any(
        message.get("role") in ("tool", "function")
        for exchange in seen.log
        for message in exchange.request.get("messages") or ()
    )


def _call_ids(exchange: Exchange) -> Iterator[str]:
    for choice in (exchange.response or {})["choices"]:
        for call in choice["message"].get("tool_calls") or ():
            yield str(call["id"])


def _answered(seen: Seen) -> Iterator[tuple[Json, str]]:
    """Yield the calls of tools that a later request has a reply to, each once, with the reply.

    A side job may be what reads the replies.
    """
    called = {str(call.get("id")): call for call in tool_calls(seen)}
    for exchange in seen.log:
        for message in exchange.request.get("messages") or ():
            if message.get("role") == "tool":
                call = called.pop(str(message.get("tool_call_id")), None)
                if call is not None:
                    yield call, str(message.get("content"))
