"""Streams as servers should not send them, in a rollout and outside one.

The agent reads what it would read in production, without an error that production would not
have; the record has every call that the server made, or the completion counts as failed.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

import openai
import pytest
from trajectories import Trajectory, choices, rollout

from art_adapt.hooks import recorded

USER = [{"role": "user", "content": "hello"}]
Json = dict[str, Any]


@pytest.fixture
def server() -> Iterator[Any]:
    """Serve the chunks in its ``chunks``, as they are."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            for chunk in serving.chunks:
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
            self.wfile.write(b"data: [DONE]\n\n")

        def log_message(self, *_: object) -> None: ...

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = SimpleNamespace(
        chunks=[], base_url=f"http://127.0.0.1:{http.server_port}/v1"
    )
    threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
    yield serving
    http.shutdown()


def chunk(*parts: Json, **rest: Any) -> Json:
    base = {"id": "c", "created": 1, "model": "m", "object": "chat.completion.chunk"}
    return {**base, "choices": list(parts), **rest}


def delta(*calls: Json, **more: Any) -> Json:
    return chunk({"index": 0, "delta": {"tool_calls": list(calls)}, **more})


def call(index: object = ..., id_: str | None = None, **function: Any) -> Json:
    said: Json = {"function": function}
    if index is not ...:
        said["index"] = index
    return {**said, "id": id_, "type": "function"} if id_ else said


END = chunk({"index": 0, "delta": {}, "finish_reason": "tool_calls"})
TWO = [("look", '{"at":1}'), ("go", "{}")]


def two(first: object, second: object) -> list[Json]:
    return [
        delta(call(first, "a", name="look", arguments="")),
        delta(call(first, arguments='{"at":')),
        delta(call(first, arguments="1}")),
        delta(call(second, "b", name="go", arguments="{}")),
        END,
    ]


STREAMS: dict[str, tuple[list[Json], list[tuple[str, str]] | None]] = {
    "as it should be": (two(0, 1), TWO),
    "no index": (two(..., ...), TWO),
    "null": (two(None, None), TWO),
    "each the first": (two(0, 0), TWO),
    "each the second": (two(1, 1), TWO),
    "the last first": (two(1, 0), TWO[::-1]),
    "both in one chunk": (
        [
            delta(
                call(0, "a", name="look", arguments='{"at":1}'),
                call(0, "b", name="go", arguments="{}"),
            ),
            END,
        ],
        TWO,
    ),
    "the id again in each chunk": (
        [
            delta(call(0, "a", name="look", arguments='{"at"')),
            delta(call(0, "a", arguments=":1}")),
            delta(call(1, "b", name="go", arguments="{}")),
            END,
        ],
        TWO,
    ),
    "another id in each chunk": (
        [
            delta(call(0, "a", name="look", arguments='{"at"')),
            delta(call(0, "x", arguments=":1}")),
            delta(call(1, "b", name="go", arguments="{}")),
            END,
        ],
        TWO,
    ),
    "no delta": (
        [*two(0, 1)[:-1], chunk({"index": 0, "finish_reason": "tool_calls"})],
        TWO,
    ),
    "a null delta": (
        [
            *two(0, 1)[:-1],
            chunk({"index": 0, "delta": None, "finish_reason": "tool_calls"}),
        ],
        TWO,
    ),
    "no index of the choice": (
        [
            chunk(
                {
                    "delta": {
                        "tool_calls": [call(0, "a", name="look", arguments='{"at":1}')]
                    }
                }
            ),
            delta(call(1, "b", name="go", arguments="{}")),
            END,
        ],
        TWO,
    ),
    "arguments that are no text": (
        [delta(call(0, "a", name="look", arguments={"at": 1})), END],
        None,
    ),
    "calls that are no list": (
        [chunk({"index": 0, "delta": {"tool_calls": {"0": {}}}}), END],
        None,
    ),
    "choices that are no choices": ([chunk(), chunk(7), END], None),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", STREAMS)
def test_the_agent_reads_on_and_no_call_is_lost(server: Any, name: str) -> None:
    server.chunks, expected = STREAMS[name]
    client = openai.OpenAI(base_url=server.base_url, api_key="k", max_retries=0)

    def read() -> list[Json]:
        stream = recorded(client.chat.completions.create)(
            model="m", messages=USER, stream=True
        )
        return [each.model_dump(warnings=False) for each in stream]

    production = read()
    trajectory = Trajectory()
    with rollout(trajectory, server) as seen:
        assert read() == production
    made = choices(trajectory)
    if expected is None:
        assert made == [] and seen.failed_calls == 1
        return
    (choice,) = made
    assert [
        (each.function.name, each.function.arguments)
        for each in choice.message.tool_calls
    ] == expected
