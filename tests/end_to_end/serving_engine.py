"""The scripted engine as ART's capture expects its engine: token ids without being
asked, and prompts that go on with the tokens that were sampled.

A recorder is to be measured by what it records, and not by what an engine keeps from
it. What a rendered prompt holds of an assistant's turn is what was sampled, as long as
a chat template would render it the same.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from scripted_engine import Engine, Json, token_ids


class ServingEngine(Engine):
    def __init__(self, replies: Sequence[Json] = (), *, pace: float = 0.0) -> None:
        super().__init__(replies, pace=pace)
        self._sampled: dict[str, list[int]] = {}

    def answer(
        self, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, Json]:
        request: Json = json.loads(body)
        if path.endswith("/messages"):
            return 200, self._message(path, headers, request)
        if not path.endswith("/chat/completions"):
            return super().answer(path, headers, body)
        asked = json.dumps(request | {"logprobs": True, "return_token_ids": True})
        status, response = super().answer(path, headers, asked.encode())
        if status == 200:
            response["prompt_token_ids"] = self._rendered(request)
            for choice in response["choices"]:
                self._sampled[_turn(choice["message"])] = choice["token_ids"]
        return status, response

    def _rendered(self, request: Json) -> list[int]:
        ids = token_ids(json.dumps(request.get("tools")))
        for message in request["messages"]:
            ids += self._sampled.get(_turn(message)) or token_ids(json.dumps(message))
        return ids

    def _message(self, path: str, headers: dict[str, str], request: Json) -> Json:
        """Anthropic's form of a reply that is text."""
        _, completion = super().answer(path, headers, json.dumps(request).encode())
        text = completion["choices"][0]["message"]["content"]
        return {
            "id": completion["id"],
            "type": "message",
            "role": "assistant",
            "model": request["model"],
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }


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
