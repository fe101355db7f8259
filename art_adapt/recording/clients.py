"""The SDK clients of a rollout, whose every request goes through the recorder.

A rollout's clients override ``post``, the public method that every SDK call ends in
(openai 2 and 3, _base_client.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import threading
import time
import weakref
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any, Protocol

from art_adapt.recording.histories import Request
from art_adapt.recording.replayed import Detour, answered_by, answering_clients

Json = dict[str, Any]


class Endpoint(Protocol):
    """The part of a rollout that its clients use."""

    def detour(self, path: str, body: Any, options: Json) -> Detour | None: ...

    def prepare(
        self, path: str, body: Any, options: Json, asking: str
    ) -> tuple[Json, Json, Request]: ...

    def failed(self, request: Request, error: BaseException) -> None: ...

    def received(self, request: Request, answer: Any) -> Any: ...

    def patience(self) -> Json: ...

    def pause_before_retry(
        self, error: BaseException, attempts: int
    ) -> float | None: ...


_pools: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
_pools_lock = threading.Lock()


class _NoLoop:
    """Stand for synchronous code among the event loops."""


_no_loop = _NoLoop()


def connected_client(loop: asyncio.AbstractEventLoop | None) -> Any:
    """Return the client whose connections all rollouts share.

    There is one for sync code, and one for each event loop: the running one of this thread.
    """
    with _pools_lock:
        # A client refers to its loop, so that the weak keys alone would keep both.
        for ended in [
            loop for loop in _pools if loop is not _no_loop and loop.is_closed()
        ]:
            del _pools[ended]
        key = loop or _no_loop
        if key not in _pools:
            sync_class, async_class = _recording_clients()
            client = (sync_class if loop is None else async_class)(
                base_url="http://unset", api_key="unset"
            )
            if loop is not None:
                client.ending = _close_with_loop(client)
            _pools[key] = client
        return _pools[key]


def _close_with_loop(client: Any) -> AsyncGenerator[None, None]:
    """Close a client when the running loop shuts down, as ``asyncio.run`` has it do.

    The SDK closes a client that is let go later on whichever loop runs then. There its
    connections cannot be closed: their own loop is, and says so for each.
    """

    async def waiting() -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            await client.close()

    ending = waiting()
    with contextlib.suppress(StopIteration):  # it awaits nothing before its yield
        ending.__anext__().send(None)
    return ending


@functools.cache
def _recording_clients() -> tuple[type, type]:
    """Return the sync and the async client class; openai is imported only now."""
    import openai

    class Recorded:
        recording: Endpoint
        asking = ""  # set where the request is made later than the call
        is_of_rollout = True
        api_key: str
        ending: Any = None  # of an event loop's

        @property
        def default_headers(self) -> Json:
            headers: Any = super().default_headers  # type: ignore[misc]
            return _rollout_headers(headers, self.api_key)

    class RecordingOpenAI(Recorded, openai.OpenAI):
        pause = staticmethod(time.sleep)

        def post(self, path: str, *, body: Any = None, **rest: Any) -> Any:
            return run(exchange(self, super().post, openai.Stream, path, body, rest))

    class RecordingAsyncOpenAI(Recorded, openai.AsyncOpenAI):
        pause = staticmethod(asyncio.sleep)

        async def post(self, path: str, *, body: Any = None, **rest: Any) -> Any:
            post, stream = super().post, openai.AsyncStream
            return await run_async(exchange(self, post, stream, path, body, rest))

    return RecordingOpenAI, RecordingAsyncOpenAI


Exchange = Generator[Callable[[], Any], Any, Any]


def exchange(
    client: Any, post: Any, stream: Any, path: str, body: Any, rest: Json
) -> Exchange:
    """Make one request, for sync and async clients alike.

    Yields functions that send a request when they are called, and is sent their answer,
    awaited where the client is async, or thrown their error.
    """
    from openai.types.chat import ChatCompletion, ChatCompletionChunk

    recording: Endpoint = client.recording
    options: Json = rest.pop("options", None) or {}
    detour = recording.detour(path, body, options)
    if detour is not None:
        asked: Json = {"cast_to": ChatCompletion}
        if detour.is_streamed:
            asked |= {"stream": True, "stream_cls": stream[ChatCompletionChunk]}
        timeout = {k: v for k, v in options.items() if k == "timeout"}
        answer = yield lambda: client.post(
            "/chat/completions", body=detour.chat, options=timeout, **asked
        )
        replaying = answering_clients()[stream.__name__ == "AsyncStream"]
        with answered_by(detour, answer):
            return (
                yield lambda: replaying.post(path, body=body, options=options, **rest)
            )
    body, options, request = recording.prepare(path, body, options, client.asking)
    for attempts in itertools.count(1):
        sent = {**options, **recording.patience()}
        try:
            answer = yield functools.partial(
                post, path, body=body, options=sent, **rest
            )
        except Exception as error:
            seconds = recording.pause_before_retry(error, attempts)
            if seconds is None:
                recording.failed(request, error)
                raise
            yield functools.partial(client.pause, seconds)
        else:
            return recording.received(request, answer)
    return None


def run(exchange: Exchange) -> Any:
    try:
        send = next(exchange)
        while True:
            try:
                answer = send()
            except BaseException as error:
                send = exchange.throw(error)
            else:
                send = exchange.send(answer)
    except StopIteration as finished:
        return finished.value


async def run_async(exchange: Exchange) -> Any:
    try:
        send = next(exchange)
        while True:
            try:
                answer = await send()
            except BaseException as error:
                send = exchange.throw(error)
            else:
                send = exchange.send(answer)
    except StopIteration as finished:
        return finished.value


def _rollout_headers(headers: Any, api_key: str) -> dict[str, Any]:
    """Return the SDK's own headers with the rollout's key.

    The environment's OPENAI_ORG_ID, OPENAI_CUSTOM_HEADERS and the like are meant for
    production.
    """
    own = {"accept", "content-type", "user-agent"}
    kept = {name: value for name, value in headers.items() if name.lower() in own}
    return {**sdk_headers(headers), **kept, "Authorization": f"Bearer {api_key}"}


def sdk_headers(headers: Any) -> dict[str, Any]:
    """Return the headers that the SDK sets for itself; raw-response views need one."""
    return {
        name: value
        for name, value in (headers or {}).items()
        if name.lower().startswith("x-stainless-")
    }
