"""Tell which requests of a run are of one conversation, and what each asks anew.

Both take one look at each message, however long a run was.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from art_adapt.conversation_signs import text_of
from art_adapt.seen.notes import Request

Json = dict[str, Any]

TELLING = 12  # characters of what a model said that are not said elsewhere by chance


def conversations_of(requests: Sequence[Request]) -> list[set[int]]:
    """Group requests by conversation, as sets of their numbers.

    A request goes on from the last one whose response it names, whose call it answers, or whose
    message it holds, which an agent may have cut. An agent may also ask again where the model
    said nothing.
    """
    by_sign: dict[str, Request] = {}
    conversation: dict[int, set[int]] = {}
    for request in requests:
        starts = _starts(request.messages)
        earlier = [by_sign[each] for each in _goes_on_from(request) if each in by_sign]
        earlier += _cut(request, starts, by_sign)
        last = max(earlier, key=lambda each: each.number, default=None)
        found = set() if last is None else conversation[last.number]
        found.add(request.number)
        conversation[request.number] = found
        by_sign |= dict.fromkeys(_signs(request, starts[-1]), request)
    return list({id(each): each for each in conversation.values()}.values())


def asked_anew(requests: Sequence[Request]) -> dict[int, str]:
    """Return the text of each request that no earlier one held and no model said."""
    said: set[str] = set()
    found = {}
    for request in requests:
        spelled = [json.dumps(message) for message in request.messages]
        found[request.number] = "\n".join(
            text_of(message)
            for message, text in zip(request.messages, spelled, strict=True)
            if message.get("role") != "assistant" and text not in said
        )
        said.update(spelled)
    return found


def _signs(request: Request, whole: str) -> Iterator[str]:
    """Yield what a request that goes on from this one has; ``whole`` stands for its messages."""
    if request.id is not None:
        yield f"response {request.id}"
    yield from _said(request.message)
    yield f"asked {whole}"


def _goes_on_from(request: Request) -> Iterator[str]:
    """Yield the signs of the requests that this one may go on from."""
    if (response := request.body.get("previous_response_id")) is not None:
        yield f"response {response}"
    for message in request.messages:
        if call := message.get("tool_call_id") or message.get("call_id"):
            yield f"call {call}"
        if message.get("role") == "assistant":
            yield from _said(message)


def _said(message: Json) -> Iterator[str]:
    """Yield the signs of what a model said: the ids of its calls, or its text."""
    calls = message.get("tool_calls") or ()
    for call in calls:
        yield f"call {call.get('id')}"
    if not calls and (said := text_of(message).strip()):
        yield f"said {said}"


def _cut(
    request: Request, starts: Sequence[str], by_sign: dict[str, Request]
) -> Iterator[Request]:
    """Yield earlier requests of the same beginning, whose reply was empty or stands here cut."""
    for message, start in zip([*request.messages, None], starts, strict=True):
        earlier = by_sign.get(f"asked {start}")
        if earlier is None:
            continue
        said = text_of(earlier.message).strip()
        if message is None:  # the same request
            if not said and not earlier.message.get("tool_calls"):
                yield earlier
        elif message.get("role") == "assistant":
            own = text_of(message).strip()
            if said and len(own) >= TELLING and (own in said or said in own):
                yield earlier


def _starts(messages: Sequence[Json]) -> list[str]:
    """Return what stands for the first 0, 1, ... and for all messages of a conversation."""
    found = [""]
    for message in messages:
        found.append(str(hash((found[-1], json.dumps(message)))))
    return found
