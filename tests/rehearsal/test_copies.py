"""Rehearsing an agent whose tools write to a database: each episode has a copy, yours stays."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from agent_files import art_adapt

AGENT = """\
import json
import pathlib
import sqlite3

from openai import OpenAI

HERE = pathlib.Path(__file__).resolve().parent
client = OpenAI()
BOOK = {"type": "function", "function": {"name": "book", "parameters": {
    "type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}}}


def connect():
    return sqlite3.connect(HERE / "stock.db")


def book(count):
    with connect() as db:
        db.execute("update stock set left = left - ?", (count,))
        [left] = db.execute("select left from stock").fetchone()
    (HERE / "log.txt").open("a").write(f"{left}\\n")
    return f"{left} left"


def run(task: str) -> str:
    messages = [{"role": "user", "content": task}]
    for _ in range(6):
        reply = client.chat.completions.create(model="gpt-4o", messages=messages, tools=[BOOK]).choices[0].message
        messages.append(reply)
        if not reply.tool_calls:
            return reply.content
        for call in reply.tool_calls:
            result = book(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return "too many turns"
"""


@pytest.mark.slow
@pytest.mark.parametrize("isolate", ["process", "copy"])
def test_episodes_book_from_a_database(isolate: str, tmp_path: Path) -> None:
    """In a process of their own they book from one and the same, and it is said."""
    (tmp_path / "agent.py").write_text(AGENT)
    with sqlite3.connect(tmp_path / "stock.db") as db:
        db.execute("create table stock (left)")
        db.execute("insert into stock values (1000)")
    rows = [{"task": "book two"}, {"task": "book three"}]
    (tmp_path / "scenarios.jsonl").write_text("\n".join(map(json.dumps, rows)))
    booking = {"tool_calls": [{"name": "book", "arguments": {"count": 2}}]}
    replies = [{"when": "book", **booking}, {"when": "left", "content": "booked"}]
    (tmp_path / "replies.jsonl").write_text("\n".join(map(json.dumps, replies)))
    done = art_adapt("--isolated", "--isolate", isolate, "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    done = art_adapt(
        "rehearse",
        "agent_train.py",
        *("--replies", "replies.jsonl", "--html", "r.html", "--in-place"),
        cwd=tmp_path,
    )
    said = done.stdout.decode() + done.stderr.decode()
    assert done.returncode == 0, said
    with sqlite3.connect(tmp_path / "stock.db") as db:
        [left] = db.execute("select left from stock").fetchone()
    assert "book({" in (tmp_path / "r.html").read_text().replace("&quot;", '"')
    shared = isolate == "process"
    assert (left < 1000) is shared
    assert (tmp_path / "log.txt").exists() is shared
    assert ("led to other requests" in said) is shared
    assert ("adapt again with --isolate copy" in " ".join(said.split())) is shared
    assert ("for real" in said) is shared
    docstring = (tmp_path / "agent_train.py").read_text().split('"""')[1]
    assert ("in a copy of the project's folder" in docstring) is not shared
    assert ("commits to a database" in docstring) is shared
