"""An episode that is one turn of a conversation, which the agent's object keeps, is told so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import art_adapt

CLASS = """\
from openai import OpenAI


class Player:
    def __init__(self):
        self.client, self.history = OpenAI(), []

    def ask(self, messages):
        return self.client.chat.completions.create(model="m", messages=messages).choices[0].message.content

"""
TURNS = {
    "in a list with its prompt": (
        "    def choose(self, view):\n        self.history.append({'role': 'user', 'content': view})\n"
        "        said = self.ask([{'role': 'system', 'content': 'Play.'}] + self.history)\n"
        "        self.history.append({'role': 'assistant', 'content': said})\n        return said\n"
    ),
    "all of it": (
        "    def choose(self, view):\n        self.history += [{'role': 'user', 'content': view}]\n"
        "        self.history.append({'role': 'assistant', 'content': (said := self.ask(self.history))})\n"
        "        return said\n"
    ),
    "through methods": (
        "    def choose(self, view):\n        self.told(view)\n        return self.answered()\n\n"
        "    def told(self, text):\n        self.history.append({'role': 'user', 'content': text})\n\n"
        "    def answered(self):\n        said = self.ask(messages=self.history)\n"
        "        self.history.append({'role': 'assistant', 'content': said})\n        return said\n"
    ),
}
WHOLE = {
    "a loop of its own": (
        "    def choose(self, view):\n        self.history.append({'role': 'user', 'content': view})\n"
        "        for _ in range(5):\n            said = self.ask(self.history)\n"
        "            self.history.append({'role': 'assistant', 'content': said})\n        return said\n"
    ),
    "a new list for each": (
        "    def choose(self, view):\n        messages = [{'role': 'user', 'content': view}]\n"
        "        self.history.append(view)\n        return self.ask(messages)\n"
    ),
}
SAID = b"its object keeps the conversation, so an episode is the first turn of one"


def _report(folder: Path, body: str, *options: str) -> bytes:
    (folder / "agent.py").write_text(CLASS + body)
    return art_adapt("--diff", "agent.py", *options, cwd=folder).stderr


@pytest.mark.parametrize("kind", TURNS)
def test_a_turn_is_told(kind: str, tmp_path: Path) -> None:
    assert SAID in _report(tmp_path, TURNS[kind])


def test_who_names_it_knows(tmp_path: Path) -> None:
    body = TURNS["all of it"]
    assert SAID not in _report(tmp_path, body, "--entry", "Player.choose")


@pytest.mark.parametrize("kind", WHOLE)
def test_an_episode_that_is_whole_is_not(kind: str, tmp_path: Path) -> None:
    assert SAID not in _report(tmp_path, WHOLE[kind])


CHAT = """\
from openai import OpenAI

client = OpenAI()


def ask(messages):
    reply = client.chat.completions.create(model='m', messages=messages)
    messages.append(reply.choices[0].message)
    return reply.choices[0].message.content


"""
# What a person types to, turn by turn, and what is taken for the episode.
TYPED = {
    "handed on": (
        "def answer(messages):\n    for _ in range(3):\n        said = ask(messages)\n    return said\n\n\n"
        "def main():\n    messages = [{'role': 'system', 'content': 'You help.'}]\n"
        "    while True:\n        text = input('> ')\n        if text == 'quit':\n            break\n"
        "        messages.append({'role': 'user', 'content': text})\n        print(answer(messages))\n"
    ),
    "of the module": (
        "messages = []\n\n\n"
        "def answer(text):\n    messages.append({'role': 'user', 'content': text})\n    return ask(messages)\n\n\n"
        "def main():\n    while text := input('> '):\n        print(answer(text))\n"
    ),
    "of an object": (
        "class Bot:\n    def __init__(self):\n        self.messages = []\n\n"
        "    def answer(self, text):\n        self.messages.append({'role': 'user', 'content': text})\n"
        "        for _ in range(3):\n            said = ask(self.messages)\n        return said\n\n\n"
        "def main():\n    bot = Bot()\n    for text in iter(lambda: input('> '), ''):\n        print(bot.answer(text))\n"
    ),
}


@pytest.mark.parametrize("kind", TYPED)
def test_who_types_a_whole_conversation_is_told(kind: str, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(CHAT + TYPED[kind])
    said = art_adapt("--diff", "agent.py", cwd=tmp_path).stderr
    assert b"one turn of main, which a person types to: --entry main" in said, said
    said = art_adapt("--diff", "agent.py", "--entry", "main", cwd=tmp_path).stderr
    assert b"which a person types to" not in said, said


# What a person is asked in the loop of an agent, which tells the model nothing of it.
ASKED = {
    "a name that is compared": "ok = input('Go on? ')\n            if ok.lower() != 'y':\n                return 'no'",
    "compared at once": "if input('Go on? ').strip() == 'n':\n                return 'no'",
    "only a key": "if not input('Go on? '):\n                return 'no'",
    "one or the other": "ok = input('Go on? ') if '!' in said else 'y'\n            if ok != 'y':\n                return 'no'",
}  # fmt: skip


@pytest.mark.parametrize("kind", ASKED)
def test_a_step_that_a_person_allows_is_no_turn(kind: str, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        f"{CHAT}class Agent:\n    def run(self, task: str) -> str:\n"
        "        messages = [{'role': 'user', 'content': task}]\n        while True:\n"
        "            said = self.step(messages)\n            if 'Answer:' in said:\n                return said\n"
        f"            {ASKED[kind]}\n            messages.append({{'role': 'user', 'content': 'Observation: 7'}})\n\n"
        "    def step(self, messages) -> str:\n        return ask(messages)\n"
    )
    done = art_adapt("--diff", "--json", "agent.py", cwd=tmp_path)
    found = json.loads(done.stdout)["entry_points"]
    run = next(each for each in found if each["name"] == "Agent.run")
    assert "relays_a_person" not in run["features"]
    assert found[0]["name"] == "Agent.run"
