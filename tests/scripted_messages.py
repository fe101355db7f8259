"""The scripted engine's POST /v1/messages: Anthropic's form of a reply that is text."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def scripted_message(request: Json, reply: Json, number: int) -> Json:
    """The Message that a reply of the script stands for."""
    text = (reply.get("content") or "").replace("{n}", str(number))
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
