"""A capturing process beside a plain one: chunks as they come, and the same exceptions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from agent_files import first_now

CHUNKS = 5
AGENT = """\
import asyncio
import os
import sys
import urllib.request

import openai

seen = os.environ["OPENAI_BASE_URL"] + "/seen"


def noted(chunk):
    # The server sends the next chunk when this one has been seen.
    urllib.request.urlopen(seen, data=b"").close()
    return chunk.choices[0].delta.content


def streamed(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    stream = openai.OpenAI().chat.completions.create(model="m", messages=messages, stream=True)
    return "".join(map(noted, stream))


async def later(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    client = openai.AsyncOpenAI()
    stream = await client.chat.completions.create(model="m", messages=messages, stream=True)
    return "".join([noted(chunk) async for chunk in stream])


def failing(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    return openai.OpenAI(max_retries=1).chat.completions.create(model=question, messages=messages)


def left(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    for chunk in openai.OpenAI().chat.completions.create(model="m", messages=messages, stream=True):
        return noted(chunk)


if __name__ == "__main__":
    for question in sys.argv[2:]:
        try:
            answer = globals()[sys.argv[1]](question)
            print(asyncio.run(answer) if asyncio.iscoroutine(answer) else answer)
        except Exception as error:
            frames, trace = [], error.__traceback__
            while trace is not None:
                frames.append((trace.tb_frame.f_code.co_name, trace.tb_lineno))
                trace = trace.tb_next
            print(type(error), error, error.__cause__, error.__context__, frames)
"""


class Server(ThreadingHTTPServer):
    """Sends a chunk when the client has said that it has seen the one before."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen = threading.Semaphore(1)
        self.bodies: list[bytes] = []


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path.endswith("/seen"):
            self.server.seen.release()
            self.send_response(204)
            self.end_headers()
            return
        self.server.bodies.append(body)
        asked = json.loads(body)
        if asked["model"] != "m":
            self.send_response(int(asked["model"]))
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(b'{"error": {"message": "no", "code": "x"}}')
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for number in range(CHUNKS):
            if not self.server.seen.acquire(timeout=20):
                return  # what was sent is kept back somewhere
            choice = {"index": 0, "delta": {"content": str(number)}}
            chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1}
            text = json.dumps({**chunk, "model": "m", "choices": [choice]})
            self.wfile.write(f"data: {text}\n\n".encode())
            self.wfile.flush()
        self.wfile.write(b"data: [DONE]\n\n")
        self.server.seen = threading.Semaphore(1)


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("name", "questions"),
    first_now(
        [
            ("streamed", ["one", "two"]),
            ("later", ["one", "two"]),
            ("failing", ["400", "401", "404", "429", "500"]),
            ("left", ["one"]),
        ],
        2,
    ),
)
def test_requests_chunks_and_exceptions(
    name: str, questions: list[str], server: Server, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    plain = [sys.executable, "agent.py", name, *questions]
    options = ["--entry", name, "-o", "rows.jsonl", "--conversations", "kept.jsonl"]
    capture = [sys.executable, "-m", "art_adapt", "capture", *options, "--", *plain]
    environment = {
        **os.environ,
        "OPENAI_BASE_URL": f"http://127.0.0.1:{server.server_port}/v1",
        "OPENAI_API_KEY": "sk-production",
    }
    said, bodies = [], []
    for command in (plain, capture):
        server.bodies, server.seen = [], threading.Semaphore(1)
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, timeout=120
        )
        assert done.returncode == 0, done.stderr.decode()
        said.append(done.stdout.decode())
        bodies.append(server.bodies)
    assert said[0] == said[1] and bodies[0] == bodies[1]
    if name in ("streamed", "later"):
        assert said[0] == "01234\n" * len(questions)
    assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == len(questions)
