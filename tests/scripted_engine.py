"""A scripted stand-in for an inference engine: HTTP on loopback, OpenAI's API, vLLM's
token ids, and a log of it all.

``drop`` ends a stream in its middle. ``{n}`` in a text is the number of the request. Replies come from a list, in order; one with ``when`` is a rule that answers whatever
matches it. A reply is ``{"content": text}``, ``{"contents": [text, ...]}`` for ``n``
choices, ``{"tool_calls": [{"name", "arguments"}]}`` or ``{"error": status}``. Tokens
are words: their ids are made from the text, so that ids can be checked against it.

With ``delay`` a reply comes after so many seconds, with ``pace`` it leaves so many
between the chunks of a stream; with ``disconnect`` the server hangs up ``"before"`` or
in the ``"middle"`` of the answer, and the client can tell (with ``drop`` it cannot).
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from scripted_responses import response_events, scripted_response

Json = dict[str, Any]


@dataclass(frozen=True)
class Exchange:
    """One request and what was answered: ``body`` as it came over the wire,
    ``response`` None for an error, ``broken`` where the server hung up on it.
    """

    path: str
    headers: dict[str, str]
    body: bytes
    response: Json | None
    broken: bool = False

    @property
    def request(self) -> Json:
        return json.loads(self.body)


@dataclass
class Script:
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


def marker(number: int, index: int) -> int:
    """The token that stands for the choice ``index`` of the completion ``number`` (from
    1).
    """
    return 1_000_000 + number * 10 + index


def token_ids(text: str) -> list[int]:
    """One id a word, the same for the same word."""
    return [zlib.crc32(word.encode()) % 50_000 for word in re.findall(r"\s*\S+", text)]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256  # 64 rollouts connect at once

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):  # an agent has left
            super().handle_error(request, client_address)


class Engine:
    """``with Engine(replies) as engine``: ``engine.base_url``, ``engine.log``.
    ``delay`` seconds go into each answer, ``pace`` before each chunk of a stream. A
    ``script`` of one's own says what a request is answered, one request at a time.
    """

    def __init__(
        self,
        replies: Sequence[Json] = (),
        *,
        delay: float = 0.0,
        pace: float = 0.0,
        script: Script | None = None,
    ) -> None:
        self.script = script or Script(replies)
        self.delay = delay
        self.pace = pace
        self.log: list[Exchange] = []
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self.root = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.base_url = f"{self.root}/v1"

    def __enter__(self) -> Engine:
        threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        ).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(
        self, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, Json]:
        with self._lock:
            request = json.loads(body)
            reply = self.script.reply(request)
            number = len(self.log) + 1
            make = scripted_response if path.endswith("/responses") else _completion
            response = None if "error" in reply else make(request, reply, number)
            broken = "disconnect" in reply or (
                "drop" in reply and bool(request.get("stream"))
            )
            self.log.append(Exchange(path, headers, body, response, broken))
        if delay := reply.get("delay", self.delay):
            time.sleep(delay)
        if response is None:
            return reply["error"], {
                "error": {"message": "scripted", "type": "scripted"}
            }
        return 200, response

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        engine = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None: ...

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.title(): value for name, value in self.headers.items()}
                status, response = engine.answer(self.path, headers, body)
                if "disconnect" in response:
                    self._hang_up(response, json.loads(body))
                    return
                if status == 200 and json.loads(body).get("stream"):
                    self._stream(response, json.loads(body))
                    return
                data = json.dumps(response).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                if status != 200:  # the SDK's own retries need not wait
                    self.send_header("Retry-After-Ms", "1")
                self.end_headers()
                with suppress(OSError):  # the agent has not waited for it
                    self.wfile.write(data)

            def _hang_up(self, response: Json, request: Json) -> None:
                self.close_connection = True
                if response["disconnect"] == "before":
                    return
                data = json.dumps(response).encode()
                kind = "application/json"
                if request.get("stream"):
                    chunks = [
                        json.dumps(c).encode() for c in _chunks(response, request)
                    ]
                    data = b"".join(b"data: " + chunk + b"\n\n" for chunk in chunks)
                    kind = "text/event-stream"
                with suppress(OSError):
                    self.send_response(200)
                    self.send_header("Content-Type", kind)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data[: len(data) // 2])

            def _stream(self, response: Json, request: Json) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                chunks = list(
                    response_events(response)
                    if response["object"] == "response"
                    else _chunks(response, request)
                )
                if response.get("drop"):  # the engine dies in the middle
                    chunks = chunks[:2]
                try:
                    for chunk in chunks:
                        time.sleep(response.get("pace", engine.pace))
                        data = json.dumps(chunk).encode()
                        if "sequence_number" in chunk:
                            self.wfile.write(f"event: {chunk['type']}\n".encode())
                        self.wfile.write(b"data: " + data + b"\n\n")
                    if not response.get("drop"):
                        self.wfile.write(b"data: [DONE]\n\n")
                except OSError:
                    pass  # the agent has left the stream
                self.close_connection = True

        return Handler


def _completion(request: Json, reply: Json, number: int) -> Json:
    texts = reply.get("contents") or [reply.get("content")] * (request.get("n") or 1)
    texts = [text and text.replace("{n}", str(number)) for text in texts]
    choices = [
        _choice(request, reply, text, index, number) for index, text in enumerate(texts)
    ]
    completion: Json = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": request["model"],
        "choices": choices,
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
    if reply.get("drop"):
        completion["drop"] = True
    completion |= {key: reply[key] for key in ("disconnect", "pace") if key in reply}
    if request.get("return_token_ids"):
        completion["prompt_token_ids"] = token_ids(json.dumps(request["messages"]))
    return completion


def _arguments(call: Json) -> str:
    """As JSON; a text as it is, which may be none."""
    given = call["arguments"]
    return given if isinstance(given, str) else json.dumps(given)


def _choice(
    request: Json, reply: Json, text: str | None, index: int, number: int
) -> Json:
    message: Json = {"role": "assistant", "content": text}
    finish = reply.get("finish_reason", "stop")
    calls = reply.get("tool_calls", [])
    if calls and request.get("functions"):
        call = calls[0]
        message["function_call"] = {
            "name": call["name"],
            "arguments": _arguments(call),
        }
        finish = "function_call"
    elif calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}_{at}",
                "type": "function",
                "function": {
                    "name": call["name"],
                    "arguments": _arguments(call),
                },
            }
            for at, call in enumerate(calls)
        ]
        finish = "tool_calls"
    sampled = (text or "") + "".join(json.dumps(call) for call in calls)
    # The first token says which completion this is, so that a recorded choice can be
    # told from its twins.
    ids = [marker(number, index), *token_ids(sampled)]
    choice: Json = {
        "index": index,
        "message": message,
        "finish_reason": finish,
        "logprobs": None,
    }
    if request.get("logprobs"):
        tokens = [
            {
                "token": f"token_id:{id_}",
                "logprob": -0.5,
                "bytes": [],
                "top_logprobs": [],
            }
            for id_ in ids
        ]
        choice["logprobs"] = {"content": tokens, "refusal": None}
    if request.get("return_token_ids"):
        choice["token_ids"] = ids
    return choice


def _chunks(response: Json, request: Json) -> Iterator[Json]:
    base = {key: response[key] for key in ("id", "created", "model")} | {
        "object": "chat.completion.chunk"
    }
    first = (
        {"prompt_token_ids": response["prompt_token_ids"]}
        if "prompt_token_ids" in response
        else {}
    )
    for choice in response["choices"]:
        index, message = choice["index"], choice["message"]

        def chunk(
            delta: Json, *, finish: str | None = None, index: int = index, **extra: Any
        ) -> Json:
            return base | {
                "choices": [
                    {
                        "index": index,
                        "delta": delta,
                        "finish_reason": finish,
                        "logprobs": None,
                    }
                    | extra
                ]
            }

        yield first | chunk({"role": "assistant", "content": None})
        tokens = (choice["logprobs"] or {}).get("content") or []
        ids = choice.get("token_ids", [])
        words = [
            "",
            *re.findall(r"\s*\S+", message["content"] or ""),
        ]  # the marker's token has no text
        for at, word in enumerate(words):
            extra: Json = {"token_ids": ids[at : at + 1]} if ids else {}
            if tokens:
                extra["logprobs"] = {"content": tokens[at : at + 1], "refusal": None}
            yield chunk({"content": word}, **extra)
        for at, call in enumerate(message.get("tool_calls", [])):
            head = {
                "index": at,
                "id": call["id"],
                "type": "function",
                "function": {"name": call["function"]["name"], "arguments": ""},
            }
            yield chunk({"tool_calls": [head]})
            arguments = call["function"]["arguments"]
            for piece in (
                arguments[: len(arguments) // 2],
                arguments[len(arguments) // 2 :],
            ):
                yield chunk(
                    {"tool_calls": [{"index": at, "function": {"arguments": piece}}]}
                )
        rest: Json = {"token_ids": ids[len(words) :]} if ids else {}
        if tokens[len(words) :]:
            rest["logprobs"] = {"content": tokens[len(words) :], "refusal": None}
        yield chunk({}, finish=choice["finish_reason"], **rest)
    if (request.get("stream_options") or {}).get("include_usage"):
        yield base | {"choices": [], "usage": response["usage"]}
