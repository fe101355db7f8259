"""Answer POST /v1/chat/completions for the scripted engine, with vLLM's token ids.

A reply is ``{"content": text}``, ``{"contents": [text, ...]}`` for ``n`` choices, or
``{"tool_calls": [{"name", "arguments"}]}``. ``{n}`` in a text is the number of the request.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from typing import Any, Protocol

Json = dict[str, Any]


class Tokens(Protocol):
    """The tokens of a completion.

    ``unasked``: ids and logprobs come even if the request does not ask for them.
    """

    unasked: bool

    def prompt(self, request: Json) -> list[int]:
        """Tokenize a request."""

    def sampled(
        self, request: Json, reply: Json, message: Json, mark: int
    ) -> list[int]:
        """Tokenize the ``message`` made from ``reply``; ``mark`` is its ``marker``."""

    def spelled(self, token: int) -> list[int]:
        """Return the bytes of a token."""


class Words:
    """Tokens that are words, whose ids can be checked against the text.

    The first sampled token identifies the completion, so that a recorded choice can be told
    from its twins.
    """

    unasked = False

    def prompt(self, request: Json) -> list[int]:
        return token_ids(json.dumps(request["messages"]))

    def sampled(
        self, request: Json, reply: Json, message: Json, mark: int
    ) -> list[int]:
        calls = map(json.dumps, reply.get("tool_calls", []))
        return [mark, *token_ids((message["content"] or "") + "".join(calls))]

    def spelled(self, token: int) -> list[int]:
        return []


def marker(number: int, index: int) -> int:
    """Return the token for the choice ``index`` of the completion ``number`` (from 1)."""
    return 1_000_000 + number * 10 + index


def token_ids(text: str) -> list[int]:
    """Return one id per word, the same for the same word."""
    return [zlib.crc32(word.encode()) % 50_000 for word in re.findall(r"\s*\S+", text)]


def completion(request: Json, reply: Json, number: int, tokens: Tokens) -> Json:
    """Make the chat completion that a reply of the script stands for."""
    with_ids = tokens.unasked or request.get("return_token_ids")
    prompt = {"prompt_token_ids": tokens.prompt(request)} if with_ids else {}
    texts = reply.get("contents") or [reply.get("content")] * (request.get("n") or 1)
    choices = []
    for index, text in enumerate(texts):
        message = _message(request, reply, text, number)
        choice: Json = {
            "index": index,
            "message": message,
            "finish_reason": _finish_reason(reply, message),
            "logprobs": None,
        }
        ids = tokens.sampled(request, reply, message, marker(number, index))
        if tokens.unasked or request.get("logprobs"):
            logprobs = [_logprob(id_, tokens) for id_ in ids]
            choice["logprobs"] = {"content": logprobs, "refusal": None}
        if with_ids:
            choice["token_ids"] = ids
        choices.append(choice)
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": request["model"],
        "choices": choices,
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        **prompt,
    }


def _message(request: Json, reply: Json, text: str | None, number: int) -> Json:
    said = text and text.replace("{n}", str(number))
    message: Json = {"role": "assistant", "content": said}
    functions = [
        {"name": call["name"], "arguments": _arguments(call)}
        for call in reply.get("tool_calls", [])
    ]
    if functions and request.get("functions"):
        message["function_call"] = functions[0]
    elif functions:
        message["tool_calls"] = [
            {"id": f"call_{number}_{at}", "type": "function", "function": function}
            for at, function in enumerate(functions)
        ]
    return message


def _arguments(call: Json) -> str:
    """Write arguments as JSON; text stays as it is, and may be invalid."""
    given = call["arguments"]
    return given if isinstance(given, str) else json.dumps(given)


def _finish_reason(reply: Json, message: Json) -> str:
    if "function_call" in message:
        return "function_call"
    if "tool_calls" in message:
        return "tool_calls"
    reason: str = reply.get("finish_reason", "stop")
    return reason


def _logprob(token: int, tokens: Tokens) -> Json:
    return {
        "token": f"token_id:{token}",
        "logprob": -0.5,
        "bytes": tokens.spelled(token),
        "top_logprobs": [],
    }


def chunks(response: Json, request: Json) -> Iterator[Json]:
    """Stream the same completion: one chunk per word, three per tool call."""
    base = {key: response[key] for key in ("id", "created", "model")}
    base["object"] = "chat.completion.chunk"
    prompt = {key: response[key] for key in ("prompt_token_ids",) if key in response}
    for choice in response["choices"]:
        for at, (delta, more) in enumerate(_deltas(choice)):
            part = {"index": choice["index"], "delta": delta}
            part |= {"finish_reason": None, "logprobs": None, **more}
            yield {**base, "choices": [part], **({} if at else prompt)}
    if (request.get("stream_options") or {}).get("include_usage"):
        yield {**base, "choices": [], "usage": response["usage"]}


def _deltas(choice: Json) -> Iterator[tuple[Json, Json]]:
    """Yield each delta of a choice, and the other fields of its chunk."""
    message = choice["message"]
    logprobs = (choice["logprobs"] or {}).get("content") or []
    ids = choice.get("token_ids", [])

    def tokens(part: slice) -> Json:
        said: Json = {"token_ids": ids[part]} if ids else {}
        if logprobs[part]:
            said["logprobs"] = {"content": logprobs[part], "refusal": None}
        return said

    yield {"role": "assistant", "content": None}, {}
    # The token that marks the completion has no text.
    words = ["", *re.findall(r"\s*\S+", message["content"] or "")]
    for at, word in enumerate(words):
        yield {"content": word}, tokens(slice(at, at + 1))
    for at, call in enumerate(message.get("tool_calls", [])):
        arguments = call["function"]["arguments"]
        begun = {**call["function"], "arguments": ""}
        yield {"tool_calls": [{"index": at, **call, "function": begun}]}, {}
        half = len(arguments) // 2
        for piece in (arguments[:half], arguments[half:]):
            function = {"arguments": piece}
            yield {"tool_calls": [{"index": at, "function": function}]}, {}
    rest = tokens(slice(len(words), None))
    yield {}, {"finish_reason": choice["finish_reason"], **rest}
