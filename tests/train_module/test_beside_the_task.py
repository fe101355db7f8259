"""What an agent is given beside its task is made as the project makes it, and is in no row."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import art_adapt

LOOP = """\
    for _ in range(5):
        message = client.chat.completions.create(model="m", messages=messages, tools=TOOLS).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            result = TABLE[call.function.name]({given})
            messages.append({{"role": "tool", "tool_call_id": call.id, "content": result}})
"""
HEAD = """\
import argparse
import os
import random
import sqlite3
import sys
from contextlib import contextmanager
from datetime import date

from openai import AzureOpenAI, OpenAI

client = OpenAI()
TOOLS = [{"type": "function", "function": {"name": "rooms", "parameters": {"type": "object", "properties": {}}}}]
PROMPT = "Help. Today is %s."


def open_db(path):
    con = sqlite3.connect(path)
    con.execute("create table if not exists room (name)")
    return con


@contextmanager
def opened(path):
    yield sqlite3.connect(path)


def rooms(con):
    return str(con.execute("select * from room").fetchall())


TABLE = {"rooms": rooms}


def system():
    return "Help with rooms."


"""
CON = f'def ask(con, question):\n    messages = [{{"role": "user", "content": question}}]\n{LOOP.format(given="con")}\n\n'
BEGUN = f'def ask(messages, question):\n    messages.append({{"role": "user", "content": question}})\n{LOOP.format(given="None")}\n\n'
GIVEN = (
    "def ask(question, tools, prompt):\n"
    '    messages = [{"role": "system", "content": prompt}, {"role": "user", "content": question}]\n'
    f"{LOOP.format(given='None').replace('tools=TOOLS', 'tools=tools')}\n\n"
)
SEARCH = """\
class Search:
    def __init__(self, llm, chat_model, vectors):
        self.llm, self.chat_model, self.vectors = llm, chat_model, vectors

    def ask(self, question):
        near = self.llm.embeddings.create(model=self.vectors, input=question).data[0]
        messages = [{"role": "user", "content": f"{question} {near}"}]
        return self.llm.chat.completions.create(model=self.chat_model, messages=messages).choices[0].message.content


def build():
    llm = AzureOpenAI(azure_endpoint=os.environ["AT"], api_key=os.environ["KEY"], api_version="2024-12-01-preview")
    return Search(llm, os.environ["CHAT"], os.environ["VECTORS"])
"""
PARSED = (
    "def main(argv=None):\n    parser = argparse.ArgumentParser()\n"
    '    parser.add_argument("question")\n    parser.add_argument("--db", default="room.db")\n'
    "    args = parser.parse_args(argv)\n"
)
# The agent, what calls it, what episode() does, and the fields of a scenario.
AGENTS = {
    "a connection that is only handed on": (
        f"{CON}{PARSED}    con = open_db(args.db)\n    print(ask(con, args.question))\n",
        ['con = open_db("room.db")', "ask(con=con,"],
        ["question"],
    ),
    "what a block opens": (
        f"{CON}def main():\n    with opened('room.db') as con:\n        print(ask(con, sys.argv[1]))\n",
        ["con=training.fill_in("],
        ["question"],
    ),
    "a conversation that the caller begins": (
        f'{BEGUN}{PARSED}    begun = [{{"role": "system", "content": PROMPT % date.today()}}]\n'
        "    print(ask(begun, args.question))\n",
        ['begun = [{"role": "system", "content": PROMPT % date.today()}]'],
        ["question"],
    ),
    "tools and a prompt": (
        f"{GIVEN}def main():\n    print(ask(sys.argv[1], TOOLS, system()))\n",
        ["tools=TOOLS", "prompt=system()"],
        ["question"],
    ),
    "tools and a prompt for each of some questions": (
        f"{GIVEN}def main():\n    prompt = system()\n    for question in ['Why?', 'When?']:\n"
        "        print(ask(question, tools=TOOLS, prompt=prompt))\n",
        ["tools=TOOLS", "prompt = system()"],
        ["question"],
    ),
    "a task that each mode of a loop is told": (
        f"{GIVEN.replace('question, tools, prompt', 'task, mode').replace('prompt}', 'mode}').replace('question}', 'task}').replace('tools=tools', 'tools=TOOLS')}"
        "def main():\n    for mode in ['fast', 'slow']:\n        print(ask('Find a room.', mode))\n",
        ["task=scenario.task"],
        ["task", "mode"],
    ),
    "a case that is drawn, and notes that a module fills": (
        f"{GIVEN.replace('question, tools, prompt', 'question, case, notes').replace('prompt}', 'str(case)}').replace('tools=tools', 'tools=TOOLS')}"
        "NOTES = []\n\n\ndef main():\n    print(ask(sys.argv[1], random.choice(['a', 'b']), NOTES))\n",
        ["case=scenario.case", "notes=scenario.notes"],
        ["question", "case", "notes"],
    ),
    "an option of the command line beside a history": (
        f"{GIVEN.replace('question, tools, prompt', 'history, steps').replace('range(5)', 'range(steps)').replace('tools=tools', 'tools=TOOLS').replace('messages = [', 'messages = history or [').replace('prompt}', 'PROMPT}').replace('question}', 'PROMPT}')}"
        "def main():\n    parser = argparse.ArgumentParser()\n    parser.add_argument('question')\n"
        "    parser.add_argument('--steps', type=int, default=8)\n    args = parser.parse_args()\n"
        "    history = [{'role': 'user', 'content': args.question}]\n    print(ask(history, args.steps))\n",
        ["steps=8"],
        ["history"],
    ),
    "as much of an object as can be copied": (
        "KIND = os.getenv('KIND', 'large')\n\n\nclass Store:\n"
        "    def __init__(self, kind: str = 'small', keys: dict | None = None):\n        self.kind, self.keys = kind, keys\n\n\n"
        "class Bot:\n    def __init__(self, store: Store):\n        self.store = store\n\n"
        "    def ask(self, question):\n        messages = [{'role': 'user', 'content': question + self.store.kind}]\n"
        "        return client.chat.completions.create(model='m', messages=messages).choices[0].message.content\n\n\n"
        "def main():\n    keys = None\n    if os.getenv('KEY'):\n        keys = {'key': os.getenv('KEY')}\n        print('loaded')\n"
        "    store = Store(kind=KIND, keys=keys)\n    print(Bot(store).ask(sys.argv[1]))\n",
        ["Bot(store=Store(kind=KIND))"],
        ["question"],
    ),
    "a client and a model for embeddings": (
        SEARCH,
        ['vectors=os.environ["VECTORS"]', "AzureOpenAI(", "chat_model=BASE_MODEL"],
        ["question"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", AGENTS)
def test_what_is_beside_the_task_is_no_field(case: str, tmp_path: Path) -> None:
    agent, does, fields = AGENTS[case]
    (tmp_path / "agent.py").write_text(f"{HEAD}{agent}")
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    written = (tmp_path / "agent_train.py").read_text()
    scenario = written.partition("class Scenario")[2].partition("def episode")[0]
    named = [
        line.split(":")[0].strip() for line in scenario.splitlines() if ": " in line
    ]
    assert named == fields, scenario
    for each in does:
        assert each in written, written
