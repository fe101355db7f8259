"""Serve a scripted model over an ``Endpoint``: chat completions, responses, embeddings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from art_adapt.recording.functions import Functions
from art_adapt.recording.responses.conversations import Conversations
from art_adapt.recording.responses.events import Events
from art_adapt.recording.responses.turn import Turn
from art_adapt.recording.responses.untranslatable import Untranslatable
from art_adapt.rehearsal.embeddings import Embedded, embeddings
from art_adapt.rehearsal.endpoint import Answer, Json, Request, as_events, as_json
from art_adapt.rehearsal.moderations import moderations

# From an API key and a request to the status and the body.
Complete = Callable[[str, Json], tuple[int, Json]]


EMBEDDINGS = "/embeddings"
NOT_SERVED = "the rehearsal serves completions, embeddings and moderations"


def answer(
    request: Request,
    complete: Complete,
    conversations: Conversations,
    embedded: Embedded | None = None,
) -> Answer:
    """Answer a request of the OpenAI client with what ``complete`` makes of it.

    A request to /responses is asked as a chat completion; ``conversations`` are those that
    such requests refer to. ``embedded``: what models embedded in watched runs.
    """
    key = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if request.path.endswith("/chat/completions"):
        asked = request.content
        is_older = bool(asked.get("functions"))
        status, response = complete(
            key, Functions().request(asked) if is_older else asked
        )
        if status == 200 and is_older:
            _call_functions(response)
        if status == 200 and asked.get("stream"):
            return as_events(_chunks(asked, response))
        return as_json(status, response)
    if request.path.endswith("/responses"):
        return _response(request.content, key, complete, conversations)
    if request.path.endswith(EMBEDDINGS):
        return as_json(200, embeddings(request.content, embedded or {}))
    if request.path.endswith("/moderations"):
        return as_json(200, moderations(request.content))
    what = f"{NOT_SERVED}, not {request.path}"
    return as_json(404, {"error": {"message": what, "type": "scripted"}})


def _call_functions(response: Json) -> None:
    """Turn the calls of tools in a completion into those of the older ``functions=``."""
    for choice in response["choices"]:
        calls = choice["message"].pop("tool_calls", None)
        if calls:
            choice["message"]["function_call"] = calls[0]["function"]
            choice["finish_reason"] = "function_call"


def _response(
    asked: Json, key: str, complete: Complete, conversations: Conversations
) -> Answer:
    try:
        turn = conversations.begin(asked)
    except Untranslatable as error:
        what = f"the rehearsal does not serve {error}"
        return as_json(400, {"error": {"message": what, "type": "scripted"}})
    status, completion = complete(key, turn.chat)
    if status == 200 and asked.get("stream"):
        return as_events(_events(turn, completion))
    return as_json(status, turn.response(completion) if status == 200 else completion)


def _events(turn: Turn, completion: Json) -> Iterator[Json]:
    events = Events(turn)
    yield from events.start()
    for chunk in _chunks(turn.chat, completion):
        yield from events.chunk(chunk)
    yield from events.end()


def _tokens(choice: Json, part: slice) -> Json:
    """Return a part of a choice's token ids and logprobs, as far as it has them."""
    found: Json = {}
    if choice.get("logprobs"):
        found["logprobs"] = {"content": choice["logprobs"]["content"][part]}
    if choice.get("token_ids"):
        found["token_ids"] = choice["token_ids"][part]
    return found


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

        # vLLM sends the tokens with their text: an agent may leave a stream early.
        first, rest = _tokens(choice, slice(1)), _tokens(choice, slice(1, None))
        yield {**chunk({"role": "assistant", "content": None}), **start}
        for piece in (message["content"] or "").splitlines(keepends=True):
            half = len(piece) // 2
            yield chunk({"content": piece[:half]}, **first)
            yield chunk({"content": piece[half:]})
            first = {}
        for at, call in enumerate(message.get("tool_calls") or []):
            yield chunk({"tool_calls": [{"index": at, **call}]}, **first)
            first = {}
        if called := message.get("function_call"):
            yield chunk({"function_call": called}, **first)
            first = {}
        if first:  # it said nothing
            rest = _tokens(choice, slice(None))
        yield chunk({}, finish_reason=choice["finish_reason"], **rest)
    if (request.get("stream_options") or {}).get("include_usage"):
        yield {**base, "choices": [], "usage": response["usage"]}
