"""Serve as little as an OpenAI client will take for vLLM, as a floor for benchmarks.

    python tests/benchmarks/completion_server.py [DELAY]    prints its port

Every chat completion gets the same answer, built beforehand. The server is a process of its
own, so that it does not share the interpreter lock with what is measured, and it does not
use the tests' engine, whose threads and JSON would be measured too: a substring tells
whether a request wants token ids, and the length of its body how many its prompt has.
"""

from __future__ import annotations

import asyncio
import json
import sys

SAMPLED_TOKENS = 100
CHARACTERS_PER_TOKEN = 4
TEXT = "I look at the order first, then at the parcel, and tell you what I find. " * 4
CALL = {
    "id": "call_0",
    "type": "function",
    "function": {"name": "look_up", "arguments": '{"order": "A-1041"}'},
}
# Five digits and a comma each, so that any number of them is one slice; all the same, so
# that each prompt goes on from what was sampled before, as with a real engine.
TOKEN = 10_000
PROMPT_IDS = b",".join([b"%d" % TOKEN] * 400_000)


def _body(*, ids: bool) -> bytes:
    choice = {
        "index": 0,
        "message": {
            "role": "assistant",
            "content": TEXT,
            "refusal": None,
            "annotations": None,
            "audio": None,
            "function_call": None,
            "tool_calls": [CALL],
            "reasoning_content": None,
        },
        "finish_reason": "tool_calls",
        "stop_reason": None,
        "logprobs": None,
    }
    if ids:
        sampled = [TOKEN] * SAMPLED_TOKENS
        tokens = [
            {
                "token": f"token_id:{at}",
                "logprob": -0.1234567 - at / 1e6,
                "bytes": list(f"token_id:{at}".encode()),
                "top_logprobs": [],
            }
            for at in sampled
        ]
        choice["logprobs"] = {"content": tokens, "refusal": None}
        choice["token_ids"] = sampled
    completion = {
        "id": "chatcmpl-0",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "policy",
        "choices": [choice],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
    return json.dumps(completion).encode()


PLAIN = _body(ids=False)
WITH_IDS = _body(ids=True)[:-1] + b', "prompt_token_ids": ['


def answer(body: bytes) -> bytes:
    if b'"return_token_ids"' not in body:
        return PLAIN
    prompt = PROMPT_IDS[: len(body) // CHARACTERS_PER_TOKEN * 6 - 1]
    return b"".join((WITH_IDS, prompt, b"]}"))


class Connection(asyncio.Protocol):
    """A connection that is kept alive."""

    def __init__(self, delay: float) -> None:
        self.delay = delay
        self.received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        head = self.received.find(b"\r\n\r\n")
        if head < 0:
            return
        headers = bytes(self.received[:head]).lower()
        length = int(headers.partition(b"content-length:")[2].partition(b"\r")[0])
        if len(self.received) < head + 4 + length:
            return
        response = answer(bytes(self.received[head + 4 :]))
        self.received.clear()
        if self.delay:
            asyncio.get_running_loop().call_later(self.delay, self.send, response)
        else:
            self.send(response)

    def send(self, response: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.writelines(
                (
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                    b"Content-Length: %d\r\n\r\n" % len(response),
                    response,
                )
            )


async def main() -> None:
    delay = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Connection(delay), "127.0.0.1", 0, backlog=256
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
