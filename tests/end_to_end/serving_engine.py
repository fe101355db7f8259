"""The scripted engine as ART's capture expects its engine: token ids without being
asked, and prompts that continue with the tokens that were sampled.

A recorder is to be measured by what it records, and not by what an engine withholds. A
rendered prompt holds of an assistant's turn what was sampled, as long as a chat template
would render it the same.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from scripted_completions import Words, token_ids
from scripted_engine import Engine, Json


class Served(Words):
    """Words again, where a turn that comes back is the tokens that it was sampled as."""

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
    def __init__(self, replies: Sequence[Json] = (), *, pace: float = 0.0) -> None:
        super().__init__(replies, pace=pace, tokens=Served())


def _turn(message: Json) -> str:
    """An assistant's turn as a chat template renders it: arguments are data there."""
    calls: list[Any] = [
        [
            call["id"],
            call["function"]["name"],
            json.loads(call["function"]["arguments"]),
        ]
        for call in message.get("tool_calls") or []
    ]
    return json.dumps([message["role"], message.get("content") or "", calls])
