"""Serve HTTP on loopback, with a function that answers each POST request."""

from __future__ import annotations

import json
import secrets
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit

Json = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """A POST request as it came over the wire, with header names in Title-Case."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def content(self) -> Json:
        content: Json = json.loads(self.body or b"{}")
        return content


@dataclass(frozen=True)
class Answer:
    """A response, whose body is sent piece by piece.

    A body that raises ConnectionError ends the connection where it stands.
    """

    status: int
    headers: Mapping[str, str]
    body: Iterable[bytes]


def as_json(status: int, content: Json) -> Answer:
    """Answer with one JSON object."""
    data = json.dumps(content).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(data))}
    if status >= 400:
        headers["Retry-After-Ms"] = "1"  # the SDK's own retries need not wait
    return Answer(status, headers, [data])


def as_events(chunks: Iterable[Json]) -> Answer:
    """Answer with a stream of server-sent events."""
    headers = {"Content-Type": "text/event-stream", "Connection": "close"}
    return Answer(200, headers, _events(chunks))


def _events(chunks: Iterable[Json]) -> Iterator[bytes]:
    yield from map(event, chunks)
    yield b"data: [DONE]\n\n"


def event(chunk: Json) -> bytes:
    """Encode one event, named after its type if it has one, as in the Responses API."""
    name = f"event: {chunk['type']}\n" if "type" in chunk else ""
    return f"{name}data: {json.dumps(chunk)}\n\n".encode()


class Endpoint:
    """A server that runs while its ``with`` block does, at ``url``.

    ``answer`` is called in the request's own thread. Where it raises ConnectionError the
    server hangs up without an answer. ``is_secret``: the paths begin with a word that
    no other process of the machine knows.
    """

    def __init__(
        self, answer: Callable[[Request], Answer], *, is_secret: bool = False
    ) -> None:
        prefix = f"/{secrets.token_urlsafe(9)}" if is_secret else ""
        self._server = _Server(("127.0.0.1", 0), _handler(answer, prefix))
        self.port = int(self._server.server_address[1])
        self.root = f"http://127.0.0.1:{self.port}{prefix}"
        self.url = f"{self.root}/v1"

    def __enter__(self) -> Self:
        serve = self._server.serve_forever
        threading.Thread(target=serve, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256  # many rollouts connect at once

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):  # somebody hung up
            super().handle_error(request, client_address)


def _handler(
    answer: Callable[[Request], Answer], prefix: str
) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Headers and body are two writes: the second would wait 40 ms for the first's receipt.
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None: ...

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "0")
            if not length.isdecimal() or not self.path.startswith(f"{prefix}/"):
                self.close_connection = True  # its body is not read
                return self.send_error(400 if not length.isdecimal() else 404)
            body = self.rfile.read(int(length))
            headers = {name.title(): value for name, value in self.headers.items()}
            path = urlsplit(self.path).path  # Azure's client asks with ?api-version=...
            answered = answer(Request(path.removeprefix(prefix), headers, body))
            self.send_response(answered.status)
            for name, value in answered.headers.items():
                self.send_header(name, value)
            self.end_headers()
            for piece in answered.body:
                self.wfile.write(piece)

    return Handler
