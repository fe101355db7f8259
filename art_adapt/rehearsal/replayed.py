"""Replay an episode of a run that was seen: its row, with the replies that its model gave.

What such an episode asks can be compared with what the run asked, message for message.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from art_adapt.capture.rows import CAPTURED
from art_adapt.capture.watched import goes_on
from art_adapt.conversation_signs import text_of
from art_adapt.recipe.fields import TYPED
from art_adapt.recording.functions import Functions, are_asked_for
from art_adapt.recording.responses.conversations import Conversations
from art_adapt.recording.responses.untranslatable import Untranslatable
from art_adapt.rehearsal.replies import Reply
from art_adapt.secret_texts import HIDDEN
from art_adapt.seen.episodes import texts_in
from art_adapt.seen.notes import Call, Run

Json = dict[str, Any]

NEAREST = 0.05  # seconds between a row's episode and a call that is the same


@dataclass(frozen=True)
class Original:
    """One request of a run's episode, as a chat completion, and what the model said."""

    request: Json
    reply: Reply


@dataclass(frozen=True)
class Episode:
    """An episode of a run: what it asked, in order, and the text that it returned, if it did.

    ``goes_on``: it began with what the model had said in an earlier one. ``returns_nothing``: it
    returned None, and no object that notes do not hold.
    """

    asked: tuple[Original, ...]
    returned: str | None
    goes_on: bool = False
    returns_nothing: bool = False


def episode_of(scenario: Any, runs: Sequence[Run]) -> Episode | None:
    """Return the episode that a captured row was made of.

    None: the row is somebody's own or was edited, its run is gone or failed, or a request of it
    was none that the scripted model serves.
    """
    captured = scenario.get(CAPTURED) if isinstance(scenario, dict) else None
    if not isinstance(captured, dict):
        return None
    calls = [
        (distance, run, call)
        for run in runs
        for call in run.calls.values()
        if (distance := _distance(call, captured)) < NEAREST
        and _has_given(run, scenario)
    ]
    if not calls:
        return None
    _, run, call = min(calls, key=lambda each: each[0])
    return _episode(run, call)


def _distance(call: Call, captured: Mapping[str, Any]) -> float:
    """Return how many seconds a call is from when a row says that its episode began and ended.

    A listener of an adapted agent has a clock of its own, and reads it a moment later.
    """
    seconds = captured.get("seconds")
    if call.outcome.startswith("raised") or call.seconds is None or seconds is None:
        return math.inf
    try:
        began = datetime.fromisoformat(str(captured.get("at"))).timestamp()
    except ValueError:
        return math.inf
    return abs(call.began - began) + abs(call.seconds - float(seconds))


def _has_given(run: Run, scenario: Json) -> bool:
    """True if all texts of a row are in what functions of the run were given, or somebody typed.

    A key that the run knows no name of is for a reward, such as the answer that is expected.
    """
    made = run.objects.values()
    calls = [*run.calls.values(), *(c for m in made for c in (m.init, *m.calls) if c)]
    noted = [*run.command, *run.typed, *(call.given for call in calls)]
    known = json.dumps(noted, ensure_ascii=False)
    own = {
        name: value
        for name, value in scenario.items()
        if name in TYPED or f"{json.dumps(name)}: " in known
    }
    return all(
        json.dumps(text, ensure_ascii=False)[1:-1] in known
        for text in texts_in(own, messages=True)
    )


def _episode(run: Run, call: Call) -> Episode | None:
    conversations, functions = Conversations(), Functions()
    ids: dict[Any, str] = {}  # of the run's responses, with those of their turns
    asked: list[Original] = []
    begins = 0  # which request of the run
    for at, request in enumerate(run.requests):
        body, message = request.body, dict(request.message)
        if not any(each is call for each in run.outward(request.around)):
            continue
        begins = begins if asked else at
        if not message:  # it failed
            continue
        if HIDDEN in json.dumps(message):
            # Its notes leave a secret out, which no reply can say again.
            return None
        if function := message.get("function_call"):
            message["tool_calls"] = [{"id": "", "function": function}]
        try:
            if "messages" in body:
                chat = functions.request(body) if are_asked_for(body) else body
            else:
                previous = body.get("previous_response_id")
                turn = conversations.begin(
                    {**body, "previous_response_id": ids.get(previous)}
                )
                ids[request.id] = turn.id
                conversations.keep(turn, message)
                chat = turn.chat
        except (Untranslatable, LookupError, TypeError, AttributeError):
            return None
        asked.append(Original(chat, _reply(message)))
    returned = call.returned.get("value")
    text = returned if isinstance(returned, str) else None
    nothing = call.returned == {"value": None}
    if not asked:
        return None
    return Episode(tuple(asked), text, goes_on(run, call, begins), nothing)


def _reply(message: Json) -> Reply:
    calls = tuple(
        (str(function.get("name")), str(function.get("arguments")))
        for each in message.get("tool_calls") or ()
        if isinstance(function := each.get("function"), dict)
    )
    said = text_of(message)
    return Reply(said or None, calls, "tool_calls" if calls else "stop")


class Replay:
    """The replies of an episode that are left, as it is asked for them again."""

    def __init__(self, episode: Episode) -> None:
        self._left = dict(enumerate(episode.asked, 1))

    def reply(self, request: Json) -> tuple[int, Reply] | None:
        """Return the number and the reply of the request that this one is most like; None: none is left.

        Requests that are made side by side come in any order.
        """
        texts = list(_texts(request))

        def unlike(number: int) -> tuple[bool, bool, int]:
            was = list(_texts(self._left[number].request))
            return was != texts, was[-1:] != texts[-1:], number

        number = min(self._left, key=unlike, default=0)
        return (number, self._left.pop(number).reply) if number else None


def _texts(request: Json) -> Iterator[str]:
    return (text_of(each) for each in request.get("messages") or ())
