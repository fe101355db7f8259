"""Answer POST /v1/responses for the scripted engine, as OpenAI does in production.

This is written from the API's reference, not from the recorder's translation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]


def scripted_response(request: Json, reply: Json, number: int) -> Json:
    """Make the Response that a reply of the script stands for."""
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": request.get("instructions"),
        "metadata": {},
        "model": request["model"],
        "output": _output(reply, number),
        "parallel_tool_calls": True,
        "previous_response_id": request.get("previous_response_id"),
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": request.get("tools", []),
        "top_p": 1.0,
        "usage": {
            "input_tokens": 1,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 2,
        },
    }


def _output(reply: Json, number: int) -> list[Json]:
    output: list[Json] = []
    if reply.get("reasoning"):
        output.append(
            {
                "type": "reasoning",
                "id": f"rs_{number}",
                "summary": [],
                "content": [{"type": "reasoning_text", "text": reply["reasoning"]}],
            }
        )
    if reply.get("content"):
        text = reply["content"].replace("{n}", str(number))
        part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
        output.append(
            {
                "type": "message",
                "id": f"msg_{number}",
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
        )
    output += [
        {
            "type": "function_call",
            "id": f"fc_{number}_{at}",
            "call_id": f"call_{number}_{at}",
            "name": call["name"],
            "arguments": json.dumps(call["arguments"]),
            "status": "completed",
        }
        for at, call in enumerate(reply.get("tool_calls", []))
    ]
    return output


def response_events(response: Json) -> Iterator[Json]:
    """Stream the same response as events."""
    number = 0

    def event(kind: str, **fields: Any) -> Json:
        nonlocal number
        number += 1
        return {"type": kind, "sequence_number": number - 1, **fields}

    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    yield event("response.created", response=begun)
    yield event("response.in_progress", response=begun)
    for at, item in enumerate(response["output"]):
        where = {"item_id": item["id"], "output_index": at}
        if item["type"] == "function_call":
            started = {**item, "arguments": "", "status": "in_progress"}
            yield event("response.output_item.added", item=started, output_index=at)
            whole = item["arguments"]
            for delta in (whole[:4], whole[4:]):
                kind = "response.function_call_arguments.delta"
                yield event(kind, delta=delta, **where)
            kind = "response.function_call_arguments.done"
            yield event(kind, arguments=whole, name=item["name"], **where)
        else:
            started = {**item, "content": []}
            yield event("response.output_item.added", item=started, output_index=at)
            (part,) = item["content"]
            kind, where = part["type"], {**where, "content_index": 0}
            logprobs: Json = {"logprobs": []} if kind == "output_text" else {}
            empty = {**part, "text": ""}
            yield event("response.content_part.added", part=empty, **where)
            for word in part["text"].split(" "):
                delta = word if part["text"].startswith(word) else f" {word}"
                yield event(f"response.{kind}.delta", delta=delta, **logprobs, **where)
            yield event(f"response.{kind}.done", text=part["text"], **logprobs, **where)
            yield event("response.content_part.done", part=part, **where)
        yield event("response.output_item.done", item=item, output_index=at)
    yield event("response.completed", response=response)
