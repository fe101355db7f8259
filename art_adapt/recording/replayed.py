"""Answers that the agent must read from the wire: a Response, a streaming view.

The completion is asked for and recorded like any other, and then written as such an
answer, which a client without a network hands to the SDK.
"""

from __future__ import annotations

import contextvars
import functools
import importlib
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from art_adapt.recording.responses import Events, Turn
from art_adapt.recording.streams import when_closed

_answer: contextvars.ContextVar[tuple[Detour, Any]] = contextvars.ContextVar(
    "art_answer"
)


@contextmanager
def answered_by(detour: Detour, completion: Any) -> Iterator[None]:
    token = _answer.set((detour, completion))
    try:
        yield
    finally:
        _answer.reset(token)


@functools.cache
def answering_clients() -> tuple[Any, Any]:
    """Make a sync and an async client that answer from ``answered_by``."""
    import openai

    # httpx, or httpx2 since openai 3: the library whose client the SDK's derives from.
    library = openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0]
    http: Any = importlib.import_module(library)

    def answer(_: Any) -> Any:
        detour, completion = _answer.get()
        kind = "text/event-stream" if detour.is_streamed else "application/json"
        written = detour.write(completion)
        response = http.Response(200, headers={"content-type": kind}, content=written)
        if detour.is_streamed:  # closed by the agent: so is what it is made from
            when_closed(response, completion.art_stream.left)
        return response

    made: dict[str, Any] = {"base_url": "http://recorded", "api_key": "unset"}
    transport = http.MockTransport(answer)
    clients: tuple[Any, Any] = (
        openai.OpenAI(http_client=http.Client(transport=transport), **made),
        openai.AsyncOpenAI(http_client=http.AsyncClient(transport=transport), **made),
    )
    for client in clients:
        client.is_of_rollout = True  # every_client leaves it alone
    return clients


@dataclass(frozen=True)
class Detour:
    """A request that is answered from another one.

    ``chat`` is the chat completion to ask for; ``write`` turns it, or its chunks, into
    the bytes that the agent's request is answered with.
    """

    chat: dict[str, Any]
    write: Callable[[Any], Any]

    @property
    def is_streamed(self) -> bool:
        return bool(self.chat.get("stream"))


def chat_detour(body: dict[str, Any]) -> Detour:
    """Answer with the same completion, written as the server would write it."""

    def write_chunk(chunk: Any) -> bytes:
        return b"data: " + _as_sent(chunk) + b"\n\n"

    def write(answer: Any) -> Any:
        if body.get("stream"):
            end = b"data: [DONE]\n\n"
            return _written(answer, bytes, write_chunk, lambda: end)
        return _as_sent(answer)

    return Detour(body, write)


def response_detour(turn: Turn) -> Detour:
    """Answer with the Response that the completion makes of ``turn``."""

    def sse(events: Any) -> bytes:
        return b"".join(
            f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
            for event in events
        )

    def write(answer: Any) -> Any:
        if not turn.chat.get("stream"):
            return json.dumps(turn.response(_as_json_types(answer))).encode()
        events = Events(turn)
        return _written(
            answer,
            lambda: sse(events.start()),
            lambda chunk: sse(events.chunk(_as_json_types(chunk))),
            lambda: sse(events.end()),
        )

    return Detour(turn.chat, write)


def _written(
    chunks: Any,
    start: Callable[[], bytes],
    each: Callable[[Any], bytes],
    end: Callable[[], bytes],
) -> Any:
    """Write a stream's bytes, each no sooner than the agent reads it."""

    def write() -> Iterator[bytes]:
        yield start()
        for chunk in chunks:
            yield each(chunk)
        yield end()

    async def write_async() -> AsyncIterator[bytes]:
        yield start()
        async for chunk in chunks:
            yield each(chunk)
        yield end()

    return write_async() if hasattr(chunks, "__anext__") else write()


def _as_json_types(answer: Any) -> Any:
    return answer.model_dump(mode="json", exclude_unset=True, warnings=False)


def _as_sent(answer: Any) -> bytes:
    return json.dumps(_as_json_types(answer)).encode()
