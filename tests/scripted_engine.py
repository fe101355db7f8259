"""Stand in for an inference engine: one HTTP server for all tests, with a log.

Its answers are put together from exchangeable pieces. A ``Script`` chooses the reply to a
request; ``scripted_completions``, ``scripted_responses`` and ``scripted_messages`` give it
the form of an API; ``Tokens`` gives it token ids.

A reply also says what goes wrong: ``{"error": status}`` fails; ``delay`` is the time until
the answer and ``pace`` the time before each chunk of a stream, in seconds; ``disconnect``
hangs up ``"before"`` or in the ``"middle"`` of the answer, so that the client notices;
``drop`` ends a stream in its middle, so that it does not.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import scripted_completions
from scripted_completions import Tokens, Words
from scripted_messages import scripted_message
from scripted_responses import response_events, scripted_response

from art_adapt.rehearsal.endpoint import Answer, Endpoint, Request, as_events, as_json

Json = dict[str, Any]


@dataclass(frozen=True)
class Exchange:
    """One request, its body as it came over the wire, and its answer.

    ``response`` is None for an error; ``broken`` is set if the server hung up.
    """

    path: str
    headers: dict[str, str]
    body: bytes
    response: Json | None
    broken: bool = False

    @property
    def request(self) -> Json:
        request: Json = json.loads(self.body)
        return request


@dataclass
class Script:
    """Replies in order, then ``default``; a reply with ``when`` answers what it matches.

    ``when`` maps keys of the request to regular expressions.
    """

    replies: Sequence[Json]
    default: Json = field(default_factory=lambda: {"content": "done"})
    used: int = 0

    def reply(self, request: Json) -> Json:
        for reply in self.replies:
            if "when" in reply and all(
                re.search(pattern, str(request.get(key)))
                for key, pattern in reply["when"].items()
            ):
                return reply
        ordered = [reply for reply in self.replies if "when" not in reply]
        self.used += 1
        return ordered[self.used - 1] if self.used <= len(ordered) else self.default


class Engine:
    """A scripted server at ``base_url``, with its exchanges in ``log``.

    ``delay`` and ``pace`` are the defaults for replies. A ``script`` in the place of
    ``replies`` is asked for one reply at a time.
    """

    def __init__(
        self,
        replies: Sequence[Json] = (),
        *,
        delay: float = 0.0,
        pace: float = 0.0,
        script: Script | None = None,
        tokens: Tokens | None = None,
    ) -> None:
        self.script = script or Script(replies)
        self.delay = delay
        self.pace = pace
        self.log: list[Exchange] = []
        self._tokens = tokens or Words()
        self._lock = threading.Lock()
        self._endpoint = Endpoint(self._answer)
        self.root, self.base_url = self._endpoint.root, self._endpoint.url

    def __enter__(self) -> Self:
        self._endpoint.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._endpoint.__exit__(*exception)

    def _answer(self, request: Request) -> Answer:
        asked = request.content
        streamed = bool(asked.get("stream"))
        with self._lock:
            reply = self.script.reply(asked)
            response = None
            if "error" not in reply:
                response = self._response(request.path, asked, reply)
            broken = "disconnect" in reply or ("drop" in reply and streamed)
            headers = dict(request.headers)
            self.log.append(
                Exchange(request.path, headers, request.body, response, broken)
            )
        time.sleep(reply.get("delay", self.delay))
        if response is None:
            error = {"message": "scripted", "type": "scripted"}
            return as_json(reply["error"], {"error": error})
        if reply.get("disconnect") == "before":
            raise ConnectionAbortedError
        chunks = list(_chunks(response, asked)) if streamed else None
        answer = as_json(200, response) if chunks is None else as_events(chunks)
        if "disconnect" in reply:
            return _cut_in_half(answer)
        if chunks is None:
            return answer
        pace = reply.get("pace", self.pace)
        return as_events(_paced(chunks, pace, dropped="drop" in reply))

    def _response(self, path: str, asked: Json, reply: Json) -> Json:
        number = len(self.log) + 1
        if path.endswith("/responses"):
            return scripted_response(asked, reply, number)
        if path.endswith("/messages"):
            return scripted_message(asked, reply, number)
        return scripted_completions.completion(asked, reply, number, self._tokens)


def _chunks(response: Json, asked: Json) -> Iterator[Json]:
    if response["object"] == "response":
        return response_events(response)
    return scripted_completions.chunks(response, asked)


def _paced(chunks: Sequence[Json], pace: float, *, dropped: bool) -> Iterator[Json]:
    for chunk in chunks[:2] if dropped else chunks:
        time.sleep(pace)
        yield chunk
    if dropped:
        raise ConnectionAbortedError


def _cut_in_half(answer: Answer) -> Answer:
    """Send half of an answer under headers that promise all of it."""
    data = b"".join(answer.body)

    def half() -> Iterator[bytes]:
        yield data[: len(data) // 2]
        raise ConnectionAbortedError

    headers = {**answer.headers, "Content-Length": str(len(data))}
    return Answer(answer.status, headers, half())
