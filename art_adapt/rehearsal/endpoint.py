"""An OpenAI-compatible endpoint on loopback: chat completions, streamed or whole, of
whatever ``answer`` says.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
Answer = Callable[[str, Json], tuple[int, Json]]  # of an API key and a request


class Endpoint:
    """``with Endpoint(answer) as endpoint``: serves at ``endpoint.url``."""

    def __init__(
        self, answer: Answer, serve: Callable[[tuple[str, ...]], None]
    ) -> None:
        """``serve`` is told the model's names, when somebody posts them to /served."""
        self._server = _Server(("127.0.0.1", 0), _handler(answer, serve))
        self.port = int(self._server.server_address[1])
        self.url = f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Endpoint:
        serve = self._server.serve_forever
        threading.Thread(target=serve, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


def _handler(
    answer: Answer, serve: Callable[[tuple[str, ...]], None]
) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None: ...

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            request = json.loads(body or b"{}")
            if self.path == "/served":
                serve(tuple(request["names"]))
                self._send(200, {})
            elif not self.path.endswith("/chat/completions"):
                what = f"the rehearsal serves chat completions, not {self.path}"
                self._send(404, {"error": {"message": what, "type": "scripted"}})
            else:
                key = self.headers.get("Authorization", "").removeprefix("Bearer ")
                status, response = answer(key, request)
                if status == 200 and request.get("stream"):
                    self._stream(request, response)
                else:
                    self._send(status, response)

        def _send(self, status: int, content: Json) -> None:
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            if status in (429, 500):
                self.send_header("Retry-After-Ms", "5")
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, request: Json, response: Json) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            try:
                for chunk in _chunks(request, response):
                    self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
                self.wfile.write(b"data: [DONE]\n\n")
            except OSError:
                pass  # the agent has left the stream

    return Handler


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
