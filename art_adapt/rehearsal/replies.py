"""Make the scripted model's replies from the request alone, at random with a seed.

It makes valid tool calls from the tools' JSON schemas and occasional wrong ones (an unknown
tool, broken JSON, a missing argument); it answers, refuses, truncates and fails. Or it says
the rows that the user has written.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from art_adapt.errors import Refusal
from art_adapt.json_lines import json_lines
from art_adapt.rehearsal.heard import NOTHING, Heard
from art_adapt.rehearsal.prompted import prompted_answer
from art_adapt.rehearsal.schemas import WORDS, fits, value_of

Json = dict[str, Any]

MOST_CALLS = 4  # tool outputs after which the model answers
SECOND = 0.15  # how often a reply calls two tools, unless parallel_tool_calls is false
UNFIT = "arguments that do not fit"
UNHEARD = "no text that a watched model said"


@dataclass(frozen=True)
class Faults:
    """How often a model does what an agent has to survive."""

    wrong: float = 0.08  # calls no such tool, or with wrong arguments
    refused: float = 0.03
    truncated: float = 0.04
    failed: float = 0.03
    least_calls: int = 0  # tool outputs before it may answer


REFUSAL = "I cannot help with that"
REFUSING = Faults(0, 1, 0, 0)  # whatever it is asked
RELIABLE = Faults(0, 0, 0, 0)
CALLING = Faults(0, 0, 0, 0, least_calls=1)
UNENDING = Faults(0, 0, 0, 0, least_calls=1_000_000)


@dataclass(frozen=True)
class Reply:
    """The content of one choice, or an HTTP status in ``error``."""

    content: str | None = None
    tool_calls: tuple[tuple[str, str], ...] = ()
    finish_reason: str = "stop"
    error: int | None = None
    fault: str = ""  # what is wrong with it on purpose, or beyond what is made here


@dataclass(frozen=True)
class Scripted:
    """A row of the user's, for requests whose last message matches ``when``."""

    when: str
    reply: Reply


def replies_in(path: Path) -> tuple[Scripted, ...]:
    """Read a file of the user's rows, one JSON object a line: see ``read_rows``.

    Raises:
        Refusal: it cannot be read.
    """
    try:
        return read_rows([row for _, row in json_lines(path)])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Refusal(
            f"cannot read the replies: {error}",
            next_step='write one JSON object per line, such as {"content": "yes"}',
            path=path,
        ) from error


def read_rows(rows: Sequence[Mapping[str, Any]]) -> tuple[Scripted, ...]:
    """Read the user's rows.

    A row is ``{"content": "..."}``, ``{"tool_calls": [{"name": ..., "arguments": {...}}]}``
    or ``{"error": 429}``, with ``"when": "regex"`` to restrict it. A call may also be as a
    completion has it, with its ``function``.

    Raises:
        ValueError: a row has none of these.
    """
    return tuple(_row(number, row) for number, row in enumerate(rows, 1))


def _row(number: int, row: Mapping[str, Any]) -> Scripted:
    if not {"content", "tool_calls", "error"} & set(row):
        raise ValueError(f"row {number} has neither content, tool_calls nor error")
    calls = tuple(_row_call(number, each) for each in row.get("tool_calls") or ())
    finish = row.get("finish_reason") or ("tool_calls" if calls else "stop")
    return Scripted(
        row.get("when", ""),
        Reply(row.get("content"), calls, finish, row.get("error")),
    )


def _row_call(number: int, call: Any) -> tuple[str, str]:
    function = call.get("function", call) if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise ValueError(f"row {number} has a tool call without a name")
    given = function.get("arguments", {})
    return function["name"], given if isinstance(given, str) else json.dumps(given)


def reply_to(
    request: Json,
    rows: Sequence[Scripted],
    random: Random,
    number: int,
    favourite: str | None = None,
    faults: Faults = Faults(),
    seed: int = 0,
    heard: Heard = NOTHING,
) -> Reply:
    """Make the reply to one request; ``number`` makes its text unique.

    As RULER's judge it prefers trajectories that contain ``favourite``, or scores them by chance,
    the same ones alike for one ``seed``. ``heard``: what models said in watched runs.
    """
    if (judged := _judgement(request, seed, favourite)) is not None:
        return judged
    if faults is REFUSING:
        return Reply(f"{REFUSAL} ({number}).", fault="refused")
    last = _text(request["messages"][-1]) if request.get("messages") else ""
    fitting = [row.reply for row in rows if re.search(row.when, last)]
    if fitting:
        return random.choice(fitting)
    if random.random() < faults.failed:
        return Reply(error=random.choice((429, 500)), fault="failed")
    tools = [t["function"] for t in request.get("tools") or () if "function" in t]
    choice = request.get("tool_choice", "auto")
    if tools and choice != "none" and _calls(request, choice, random, faults):
        return _call(request, tools, random, number, faults)
    if random.random() < faults.refused and not _is_bound(request):
        return Reply(f"{REFUSAL} ({number}).", fault="refused")
    text, fault = _answer(request, random, number, heard)
    if random.random() < faults.truncated:
        return Reply(text[: len(text) // 2], finish_reason="length", fault="truncated")
    return Reply(text, fault=fault)


def _is_bound(request: Json) -> bool:
    """True if an engine lets the model say nothing but JSON: it cannot refuse in words."""
    return (request.get("response_format") or {}).get("type") not in (None, "text")


def _calls(request: Json, choice: Any, random: Random, faults: Faults) -> bool:
    if choice != "auto":
        return True
    outputs = 0
    for message in reversed(request["messages"]):
        if message["role"] == "user":
            break
        outputs += message["role"] == "tool"
    if outputs < faults.least_calls:
        return True
    if outputs >= MOST_CALLS:
        return False
    return random.random() < (0.8 if outputs == 0 else 0.5)


def _call(
    request: Json, tools: list[Json], random: Random, number: int, faults: Faults
) -> Reply:
    """Call a tool, now and then two at once, and now and then in a wrong way."""
    choice = request.get("tool_choice", "auto")
    tool = random.choice(tools)
    if isinstance(choice, dict):
        name = (choice.get("function") or {}).get("name")
        tool = next((each for each in tools if each["name"] == name), tool)
    called, fits_schema = _called(tool, random)
    if choice != "auto":
        return _calling([called], "" if fits_schema else UNFIT)
    if random.random() < faults.wrong:
        name, text = called
        kind = random.choice(("unknown", "broken", "missing"))
        wrong = {
            "unknown": (f"no_such_tool_{number}", text),
            "broken": (name, text[:-1]),
            "missing": (name, "{}"),
        }
        return _calling([wrong[kind]], kind)
    if request.get("parallel_tool_calls") is not False and random.random() < SECOND:
        second, fits_too = _called(random.choice(tools), random)
        return _calling([called, second], "" if fits_schema and fits_too else UNFIT)
    return _calling([called], "" if fits_schema else UNFIT)


def _called(tool: Json, random: Random) -> tuple[tuple[str, str], bool]:
    """Return a call of a tool, and whether its arguments are what the schema asks for.

    They are an object, also of a tool whose schema says nothing.
    """
    schema = {"type": "object", **(tool.get("parameters") or {})}
    arguments = value_of(schema, random, schema)
    return (tool["name"], json.dumps(arguments)), fits(arguments, schema)


def _calling(calls: list[tuple[str, str]], fault: str) -> Reply:
    return Reply(None, tuple(calls), "tool_calls", fault=fault)


def _answer(
    request: Json, random: Random, number: int, heard: Heard
) -> tuple[str, str]:
    """Return an answer, and the fault that it has."""
    wanted = request.get("response_format") or {}
    if wanted.get("type") == "json_schema":
        schema = wanted["json_schema"].get("schema") or {}
        return json.dumps(value_of(schema, random, schema)), ""

    def text() -> str:
        return f"{random.choice(WORDS)} {random.choice(WORDS)} {number}"

    known, is_another = heard.answer(request, random, text)
    fault = UNHEARD * is_another
    if known is not None:
        return known, fault
    if (prompted := prompted_answer(request, random, text)) is not None:
        return prompted, ""
    if wanted.get("type") == "json_object":
        return json.dumps({"answer": f"{random.choice(WORDS)} {number}"}), fault
    words = " ".join(random.choice(WORDS) for _ in range(random.randint(2, 6)))
    return f"{words} {number}", fault


def _judgement(request: Json, seed: int, favourite: str | None) -> Reply | None:
    """Score each trajectory in a request of RULER's; None for any other request.

    A score depends on the trajectory, and not on its place: episodes end in any order.
    """
    if not is_judgement(request):
        return None
    shown = "".join(_text(message) for message in request["messages"])
    parts = re.split(r'<trajectory id="(\w+)"', shown)
    alike: Counter[str] = Counter()
    scores = []
    for name, text in dict(zip(parts[1::2], parts[2::2], strict=True)).items():
        text = text.partition("</trajectory>")[0]
        alike[text] += 1
        own = Random(f"{seed} {alike[text]} {text}")
        score = _score(text, own, favourite)
        given = {"trajectory_id": name, "explanation": "scripted", "score": score}
        scores.append(given)
    return Reply(json.dumps({"scores": scores}))


def _score(text: str, random: Random, favourite: str | None) -> float:
    if favourite is None:
        return round(random.random(), 3)
    return 0.9 if json.dumps(favourite)[1:-1] in text else 0.1


def is_judgement(request: Json) -> bool:
    """Tell whether RULER asks its judge."""
    return "trajectory_id" in json.dumps(request.get("response_format") or {})


def _text(message: Json) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else json.dumps(content)
