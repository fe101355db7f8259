"""Answer POST /v1/messages for the scripted engine, in Anthropic's form."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def scripted_message(request: Json, reply: Json, number: int) -> Json:
    """Make the Message that a reply with text stands for."""
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
