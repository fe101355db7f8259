"""Serve the token ids that ART's own capture expects from an engine.

They come without being asked for, and prompts continue with the tokens that were sampled: a
recorder should be measured by what it records, not by what an engine withholds. A prompt
contains an assistant's turn as it was sampled, as long as a chat template would render it
the same.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from scripted_completions import Words, token_ids
from scripted_engine import Engine, Json


class Served(Words):
    """Words, where a turn that is sent back has the tokens that were sampled."""

    unasked = True

    def __init__(self) -> None:
        self._sampled: dict[str, list[int]] = {}

    def prompt(self, request: Json) -> list[int]:
        ids = token_ids(json.dumps(request.get("tools")))
        for message in request["messages"]:
            ids += self._sampled.get(_turn(message)) or token_ids(json.dumps(message))
        return ids

    def sampled(
        self, request: Json, reply: Json, message: Json, mark: int
    ) -> list[int]:
        ids = super().sampled(request, reply, message, mark)
        self._sampled[_turn(message)] = ids
        return ids


class ServingEngine(Engine):
    """An engine whose answers always carry token ids."""

    def __init__(self, replies: Sequence[Json] = (), *, pace: float = 0.0) -> None:
        super().__init__(replies, pace=pace, tokens=Served())


def _turn(message: Json) -> str:
    """Return what a chat template renders of a turn, to which arguments are data."""
    calls: list[Any] = [
        [
            call["id"],
            call["function"]["name"],
            json.loads(call["function"]["arguments"]),
        ]
        for call in message.get("tool_calls") or []
    ]
    return json.dumps([message["role"], message.get("content") or "", calls])
