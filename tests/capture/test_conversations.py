"""Conversations of captured episodes; requests and streams are as they were, byte for byte."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from agent_files import art_adapt, first_now
from scripted_engine import Engine

AGENT = """\
import asyncio
import json
import sys
import time

from openai import AsyncOpenAI, OpenAI

client, later = OpenAI(), AsyncOpenAI()
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]


def result(call):
    return {"role": "tool", "tool_call_id": call["id"], "content": "found"}


def sync(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    while True:
        response = client.chat.completions.create(model="m", messages=messages, tools=TOOLS)
        message = response.choices[0].message.model_dump(exclude_none=True)
        messages.append(message)
        if not message.get("tool_calls"):
            return message["content"]
        messages += map(result, message["tool_calls"])


async def asynchronous(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    while True:
        response = await later.chat.completions.create(model="m", messages=messages, tools=TOOLS)
        message = response.choices[0].message.model_dump(exclude_none=True)
        messages.append(message)
        if not message.get("tool_calls"):
            return message["content"]
        messages += map(result, message["tool_calls"])


def collected(chunks):
    text, calls = "", {}
    for chunk in chunks:
        print(type(chunk).__name__, chunk.choices and chunk.choices[0].delta.content)
        for choice in chunk.choices:
            text += choice.delta.content or ""
            for part in choice.delta.tool_calls or ():
                call = calls.setdefault(part.index, {"id": part.id, "type": "function", "function": {"name": part.function.name, "arguments": ""}})
                call["function"]["arguments"] += part.function.arguments or ""
    message = {"role": "assistant", "content": text or None}
    return message | ({"tool_calls": list(calls.values())} if calls else {})


def streamed(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    while True:
        chunks = client.chat.completions.create(model="m", messages=messages, tools=TOOLS, stream=True)
        messages.append(collected(chunks))
        if "tool_calls" not in messages[-1]:
            return messages[-1]["content"]
        messages += map(result, messages[-1]["tool_calls"])


async def streamed_later(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    while True:
        chunks = await later.chat.completions.create(model="m", messages=messages, tools=TOOLS, stream=True)
        messages.append(collected([chunk async for chunk in chunks]))
        if "tool_calls" not in messages[-1]:
            return messages[-1]["content"]
        messages += map(result, messages[-1]["tool_calls"])


def streamed_raw(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    while True:
        response = client.chat.completions.with_raw_response.create(model="m", messages=messages, tools=TOOLS, stream=True)
        messages.append(collected(response.parse()))
        if "tool_calls" not in messages[-1]:
            return messages[-1]["content"]
        messages += map(result, messages[-1]["tool_calls"])


async def streamed_litellm(question: str) -> str:
    from litellm import acompletion

    messages = [{"role": "user", "content": question}]
    while True:
        chunks = await acompletion(model="openai/m", messages=messages, tools=TOOLS, stream=True)
        messages.append(collected([chunk async for chunk in chunks]))
        if "tool_calls" not in messages[-1]:
            return messages[-1]["content"]
        messages += map(result, messages[-1]["tool_calls"])


def raw(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    response = client.chat.completions.with_raw_response.create(model="m", messages=messages)
    return str(response.parse().choices[0].message.content)


if __name__ == "__main__":
    for question in sys.argv[2:]:
        answer = globals()[sys.argv[1]](question)
        print(asyncio.run(answer) if asyncio.iscoroutine(answer) else answer)
        later = AsyncOpenAI()
"""
CALL = {"tool_calls": [{"name": "look", "arguments": {"at": "it"}}]}
REPLIES = [CALL, {"content": "It is there."}]


def run(
    folder: Path, engine: Engine, command: list[str]
) -> subprocess.CompletedProcess[bytes]:
    environment = {
        **os.environ,
        "OPENAI_BASE_URL": engine.base_url,
        "OPENAI_API_KEY": "sk-production",
    }
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, timeout=120
    )


@pytest.mark.parametrize(
    "name",
    first_now(
        [
            "sync",
            "asynchronous",
            "streamed",
            "streamed_later",
            "streamed_raw",
            "streamed_litellm",
            "raw",
        ],
        4,
    ),
)
def test_conversations(name: str, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    replies = REPLIES * 2 if name != "raw" else [{"content": "It is there."}] * 2
    plain = [sys.executable, "agent.py", name, "one", "two"]
    options = ["--entry", name, "-o", "rows.jsonl", "--conversations", "kept.jsonl"]
    capture = [sys.executable, "-m", "art_adapt", "capture", *options, "--", *plain]
    with Engine(replies) as engine:
        without = run(tmp_path, engine, plain)
        bodies = [exchange.body for exchange in engine.log]
    with Engine(replies) as engine:
        done = run(tmp_path, engine, capture)
        assert [exchange.body for exchange in engine.log] == bodies
    assert done.returncode == without.returncode == 0, done.stderr.decode()
    assert done.stdout == without.stdout
    rows = [
        json.loads(line) for line in (tmp_path / "kept.jsonl").read_text().splitlines()
    ]
    assert [row["scenario"] for row in rows] == [
        {"question": "one"},
        {"question": "two"},
    ]
    for row in rows:
        assert row["messages"][-1] == {"role": "assistant", "content": "It is there."}
        roles = [message["role"] for message in row["messages"]]
        tool_loop = ["user", "assistant", "tool", "assistant"]
        assert roles == (tool_loop if name != "raw" else ["user", "assistant"])
        if name != "raw":
            (call,) = row["messages"][1]["tool_calls"]
            assert json.loads(call["function"]["arguments"]) == {"at": "it"}
            assert row["tools"][0]["function"]["name"] == "look"


def test_conversations_are_demonstrations_and_recorded_requests(tmp_path: Path) -> None:
    from art_adapt.scenarios.rows import RecordedRequest
    from art_adapt.training.demonstrations import read_demonstrations

    (tmp_path / "agent.py").write_text(AGENT)
    plain = [sys.executable, "agent.py", "sync", "one"]
    options = ["--entry", "sync", "--conversations", "kept.jsonl"]
    with Engine(REPLIES) as engine:
        run(
            tmp_path,
            engine,
            [sys.executable, "-m", "art_adapt", "capture", *options, "--", *plain],
        )
    (shown,) = read_demonstrations(tmp_path / "kept.jsonl")
    assert len(shown.messages_and_choices) == 4
    row: dict[str, Any] = json.loads((tmp_path / "kept.jsonl").read_text())
    assert RecordedRequest(**row).reference["content"] == "It is there."


def test_a_module_of_single_turns_gets_its_requests_as_rows(tmp_path: Path) -> None:
    """Rows with the agent's arguments would be no scenarios of that module."""
    (tmp_path / "agent.py").write_text(AGENT)
    command = [sys.executable, "-m", "art_adapt"]
    adapt = [*command, "--yes", "--single-turn", "--entry", "sync", "agent.py"]
    plain = [sys.executable, "agent.py", "sync", "one"]
    with Engine(REPLIES) as engine:
        adapted = run(tmp_path, engine, adapt)
        assert b"Next: record requests: art-adapt capture" in adapted.stdout
        capture = [*command, "capture", "--entry", "sync", "--", *plain]
        run(tmp_path, engine, capture)
    row = json.loads((tmp_path / "scenarios.jsonl").read_text())
    roles = [message["role"] for message in row["messages"]]
    assert roles == ["user", "assistant", "tool"]
    assert row["reference"]["content"] == "It is there."
    assert row["tools"][0]["function"]["name"] == "look"
    checked = run(tmp_path, engine, [*command, "scenarios"])
    assert b"1 row, 1 valid" in checked.stdout


def test_a_module_of_single_turns_does_nothing_of_the_agents(tmp_path: Path) -> None:
    from art_adapt.rehearsal.services import services

    sync = "def sync(question: str) -> str:\n"
    writes = AGENT.replace(sync, f"{sync}    open('notes', 'w').write(question)\n")
    for options, does in ((["--single-turn"], False), ([], True)):
        folder = tmp_path / str(does)
        folder.mkdir()
        (folder / "agent.py").write_text(writes)
        shared = ("--yes", "--isolate", "none", *options)
        art_adapt(*shared, "--entry", "sync", "agent.py", cwd=folder)
        assert bool(services(folder / "agent_train.py", in_place=True)) == does
