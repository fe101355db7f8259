"""Serve chat completions over an ``Endpoint``, whole or streamed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from art_adapt.rehearsal.endpoint import Answer, Json, Request, as_events, as_json

# From an API key and a request to the status and the body.
Complete = Callable[[str, Json], tuple[int, Json]]


def answer_chat(request: Request, complete: Complete) -> Answer:
    """Answer a request for a chat completion with what ``complete`` makes of it."""
    if not request.path.endswith("/chat/completions"):
        what = f"the rehearsal serves chat completions, not {request.path}"
        return as_json(404, {"error": {"message": what, "type": "scripted"}})
    asked = request.content
    key = request.headers.get("Authorization", "").removeprefix("Bearer ")
    status, response = complete(key, asked)
    if status == 200 and asked.get("stream"):
        return as_events(_chunks(asked, response))
    return as_json(status, response)


def _chunks(request: Json, response: Json) -> Iterator[Json]:
    base = {key: response[key] for key in ("id", "created", "model")}
    base["object"] = "chat.completion.chunk"
    start = {key: response[key] for key in ("prompt_token_ids",) if key in response}
    for choice in response["choices"]:
        message = choice["message"]

        def chunk(delta: Json, at: int = choice["index"], **more: Any) -> Json:
            empty = {
                "index": at,
                "delta": delta,
                "finish_reason": None,
                "logprobs": None,
            }
            return {**base, "choices": [{**empty, **more}]}

        yield {**chunk({"role": "assistant", "content": None}), **start}
        for piece in (message["content"] or "").splitlines(keepends=True):
            half = len(piece) // 2
            yield chunk({"content": piece[:half]})
            yield chunk({"content": piece[half:]})
        for at, call in enumerate(message.get("tool_calls") or []):
            yield chunk({"tool_calls": [{"index": at, **call}]})
        end: Json = {"finish_reason": choice["finish_reason"]}
        end |= {
            key: choice[key] for key in ("logprobs", "token_ids") if choice.get(key)
        }
        yield chunk({}, **end)
    if (request.get("stream_options") or {}).get("include_usage"):
        yield {**base, "choices": [], "usage": response["usage"]}
