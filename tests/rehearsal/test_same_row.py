"""A row that stands for episodes which were told different things is no scenario of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from agent_files import art_adapt, first_now
from test_rehearse import REWARD, rehearse

HEAD = """\
import random
import time

from openai import OpenAI

BOARDS = ["the left one", "the right one", "the middle one"]


def ask(text: str) -> str:
    messages = [{"role": "user", "content": text}]
    reply = OpenAI().chat.completions.create(model="m", messages=messages)
    return str(reply.choices[0].message.content)


def tried(messages, tries):
    for _ in range(tries):
        message = OpenAI().chat.completions.create(model="m", messages=messages).choices[0].message
        messages += [message, {"role": "user", "content": "Again."}]
    return message.content


"""
TOLD_APART = {
    "an object that a loader makes": """\
class Board:
    def __init__(self, name):
        self.name = name


class Loader:
    def __init__(self):
        self.at = 0

    def next_board(self):
        self.at += 1
        return Board(BOARDS[self.at - 1])


def play(board: Board, tries: int) -> str:
    return [ask(f"Play {board.name}.") for _ in range(tries)][-1]


def main():
    loader = Loader()
    for _ in range(3):
        print(play(loader.next_board(), 2))
""",
    "a variable of the module": """\
NOW = {"board": "no board"}


def play(tries: int = 2) -> str:
    return tried([{"role": "user", "content": f"Play {NOW['board']}."}], tries)


def main():
    for name in BOARDS:
        NOW["board"] = name
        print(play(2))
""",
    "an object that was set before": """\
class Table:
    board = ""

    def play(self, tries: int) -> str:
        return tried([{"role": "user", "content": f"Play {self.board}."}], tries)


def main():
    table = Table()
    for name in BOARDS:
        table.board = name
        print(table.play(2))
""",
}
ALIKE = {
    "the same task twice": """\
def play(board: str) -> str:
    return ask(f"Play {board}.")


def main():
    for name in [*BOARDS, *BOARDS]:
        print(play(name))
""",
    "the time": """\
def play(board: str) -> str:
    return ask(f"It is {time.time()}. Play {board}.")


def main():
    for name in [*BOARDS, *BOARDS]:
        print(play(name))
""",
    "chance": """\
def play(board: str) -> str:
    return ask(f"{random.choice('abcdefgh') * random.randint(3, 30)}: play {board}.")


def main():
    for name in [*BOARDS, *BOARDS]:
        print(play(name))
""",
}
MAIN = '\n\nif __name__ == "__main__":\n    main()\n'


def found_after_a_run(folder: Path, agent: str) -> dict[str, str]:
    (folder / "pyproject.toml").touch()
    (folder / "agent.py").write_text(HEAD + agent + MAIN)
    (folder / "rewards.py").write_text(REWARD)
    watched = art_adapt(
        *("capture", "--scripted", "--", sys.executable, "agent.py"), cwd=folder
    )
    assert watched.returncode == 0, watched.stderr.decode()
    reward = ("--isolated", "--reward", "rewards:f")
    done = art_adapt(*reward, "agent.py", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    _, said, complaints = rehearse("agent_train.py", "--json", cwd=folder)
    assert said, complaints
    return {each["name"]: each["what"] for each in json.loads(said)["findings"]}


@pytest.mark.parametrize("kind", first_now(TOLD_APART))
def test_what_no_field_holds_is_shown(kind: str, tmp_path: Path) -> None:
    found = found_after_a_run(tmp_path, TOLD_APART[kind])
    assert "'Play the left one.' and 'Play the right one.'" in found["same row"]


@pytest.mark.parametrize("kind", first_now(ALIKE))
def test_a_task_that_was_asked_twice_is_one(kind: str, tmp_path: Path) -> None:
    assert "same row" not in found_after_a_run(tmp_path, ALIKE[kind])
