"""Passes a streamed completion on, and records it when the agent is done with it."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, Protocol

from art_adapt.recording.choices import prompt_extras
from art_adapt.recording.functions import Functions
from art_adapt.recording.histories import Request
from art_adapt.recording.messages import essence
from art_adapt.recording.partial_choice import PartialChoice


class Recording(Protocol):
    """The part of a recorder that its streams use."""

    lock: threading.RLock
    open_streams: list[OpenStream]
    functions: Functions

    def record(
        self, request: Request, choices: Sequence[Any], shared_extras: dict[str, Any]
    ) -> None: ...

    def count_tokens(self, answer: Any) -> None: ...

    def failed(
        self, request: Request, error: BaseException, *, streaming: bool = False
    ) -> None: ...


class OpenStream:
    """Pass a streamed completion on, and collect the choices as the agent sees them."""

    def __init__(self, recording: Recording, request: Request, stream: Any) -> None:
        self.recording = recording
        self.request = request
        # Kept until it has ended: a stream that the garbage collector finds in the
        # middle of a request closes its connection there, and httpcore deadlocks.
        self.stream = stream
        self.parts: dict[int, PartialChoice] = {}
        self.extras: dict[str, Any] = {}
        self.reading = False
        self.malformed: Exception | None = None
        self.told: Any = None  # the chunk with the usage
        recording.open_streams.append(self)
        when_closed(stream.response, self.left)

    def watch(self, chunks: Iterator[Any]) -> Iterator[Any]:
        try:
            self.reading = True
            for chunk in chunks:
                self.see(chunk)
                self.reading = False
                yield self.for_agent(chunk)
                self.reading = True
            self.check_complete()
        except Exception as error:
            self.fail(error)
            raise
        finally:
            self.finish()

    async def watch_async(self, chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
        try:
            self.reading = True
            async for chunk in chunks:
                self.see(chunk)
                self.reading = False
                yield self.for_agent(chunk)
                self.reading = True
            self.check_complete()
        except Exception as error:
            self.fail(error)
            raise
        finally:
            self.finish()

    def left(self) -> None:
        """Note that the agent has closed the stream; the SDK does so after reading."""
        if not self.reading:
            self.finish()

    def check_complete(self) -> None:
        """Count a stream that ends before its completion does as cut by the server."""
        cut = any(part.finish_reason is None for part in self.parts.values())
        if cut or 0 < len(self.parts) < self.request.choices:
            self.fail(ConnectionError("the stream ended in the middle of a completion"))

    def see(self, chunk: Any) -> None:
        """Take a chunk in; if that is impossible, the completion will count as failed.

        The agent reads on: production would raise nothing here.
        """
        try:
            self._add(chunk)
        except Exception as error:
            self.malformed = ValueError(f"a malformed chunk of a stream: {error!r}")

    def _add(self, chunk: Any) -> None:
        self.extras |= prompt_extras(chunk)
        if getattr(chunk, "usage", None) is not None:
            self.told = chunk  # the last one counts: some servers add up in each
        with self.recording.lock:  # another thread's request may look at the parts
            for choice in chunk.choices or []:
                index = getattr(choice, "index", None) or 0
                part = self.parts.setdefault(index, PartialChoice(index))
                part.add(choice)

    def for_agent(self, chunk: Any) -> Any:
        if self.request.as_functions and self.malformed is None:
            for choice in chunk.choices or []:
                if getattr(choice, "delta", None) is not None:
                    self.recording.functions.chunk(choice)
        return chunk

    def is_continued_by(self, messages: list[Any]) -> bool:
        """Tell whether the agent went on while the stream was still open."""
        end = len(self.request.messages)
        if len(messages) <= end or messages[:end] != self.request.messages:
            return False
        return any(
            essence(part.message()) == essence(messages[end])
            for part in self.parts.values()
        )

    def fail(self, error: Exception) -> None:
        """Record nothing: the connection broke, and the rest is unknown."""
        if self._leave():
            self.recording.failed(self.request, error, streaming=True)

    def finish(self) -> None:
        """Record what the agent has read; a part is marked with ``cut=True``."""
        if self.malformed is not None:
            self.fail(self.malformed)
        if not self._leave():
            return
        parts = [self.parts[index] for index in sorted(self.parts)]
        choices = [part.choice() for part in parts if not part.is_empty()]
        if choices:
            self.recording.record(self.request, choices, self.extras)

    def _leave(self) -> bool:
        with self.recording.lock:
            if self not in self.recording.open_streams:
                return False
            self.recording.open_streams.remove(self)
        self.recording.count_tokens(self.told)
        stream, self.stream = self.stream, None
        if not hasattr(stream, "__anext__"):  # an async one closes itself, in its loop
            stream.response.close()
        return True


def when_closed(response: Any, then: Callable[[], None]) -> None:
    """Call ``then`` after an HTTP response is closed, whoever closes it."""
    close, aclose = response.close, response.aclose

    def closed() -> None:
        close()
        then()

    async def closed_async() -> None:
        await aclose()
        then()

    response.close, response.aclose = closed, closed_async
