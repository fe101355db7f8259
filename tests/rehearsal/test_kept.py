"""A rehearsal finds what the model said in one episode and another episode read."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import first_now
from test_witnesses import rehearsed

HEAD = """\
import json
import sqlite3
from pathlib import Path

from openai import OpenAI

client = OpenAI()
NOTES = []
LAST = {"text": ""}
DATA = sqlite3.connect("notes.db", check_same_thread=False)
DATA.execute("create table if not exists notes (text)")


def ask(text):
    asked = [{"role": "user", "content": text}]
    reply = client.chat.completions.create(model="m", messages=asked)
    return reply.choices[0].message.content


"""
# How an episode reads what was written, and how it writes.
KEPT = {
    "a file": (
        "Path('note.txt').read_text() if Path('note.txt').exists() else ''",
        "Path('note.txt').write_text(said)",
    ),
    "a file of JSON": (
        "json.loads(Path('note.json').read_text())[0] if Path('note.json').exists() else ''",
        "Path('note.json').write_text(json.dumps([said]))",
    ),
    "a list of the module": ("' '.join(NOTES)", "NOTES.append(said)"),
    "a dict of the module": ("LAST['text']", "LAST['text'] = said"),
    "a database": (
        "str(DATA.execute('select text from notes').fetchall())",
        "DATA.execute('insert into notes values (?)', (said,))",
    ),
}
OWN = """\
def run_agent(question: str) -> str:
    said = ask(question)
    return ask(question + " You said: " + said)
"""


@pytest.mark.parametrize("kind", first_now(KEPT, 1))
def test_what_another_episode_said_is_found(kind: str, tmp_path: Path) -> None:
    read, write = KEPT[kind]
    agent = (
        "def run_agent(question: str) -> str:\n"
        f"    said = ask(question + ' Earlier: ' + {read})\n    {write}\n    return said\n"
    )
    told = rehearsed(tmp_path, agent, "run_agent", head=HEAD, isolate="none")
    names = {each["name"] for each in told["findings"]}
    assert names & {"kept", "cross-talk"}, told["findings"]


def test_what_it_said_itself_is_its_own(tmp_path: Path) -> None:
    told = rehearsed(tmp_path, OWN, "run_agent", head=HEAD, isolate="none")
    assert not {each["name"] for each in told["findings"]} & {"kept", "cross-talk"}
