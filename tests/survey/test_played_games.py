"""A loop whose next prompt depends on earlier replies is the episode, whatever holds what was said."""

from __future__ import annotations

from pathlib import Path

import pytest

from art_adapt.source import Source
from art_adapt.survey.survey import survey

BOARD = """\
from openai import OpenAI

client = OpenAI()


class Board:
    def __init__(self, seed):
        self.cells = [seed]
        self.last = ""

    def render(self):
        return f"The board is {self.cells} after {self.last}. Your move?"

    def step(self, move):
        self._put(move)
        return self.render(), len(self.cells) > 6

    def _put(self, move):
        self.cells.append(len(move))

    def is_over(self):
        return len(self.cells) > 6


class Tally:
    def __init__(self):
        self.count = 0

    def add(self, move):
        self.count += len(move)

    def title(self):
        return "moves"


def ask_model(prompt):
    told = [{"role": "system", "content": "You play."}, {"role": "user", "content": prompt}]
    return client.chat.completions.create(model="m", messages=told).choices[0].message.content


"""
START = "def play(seed):\n    board = Board(seed)\n    cells, tally, found = {}, Tally(), []\n"
MAIN = START.replace("play(seed):", "main():\n    seed = [3]")
PLAYED = {
    "its methods": "while not board.is_over():\n    move = ask_model(board.render())\n    board.step(move)",
    "in one line": "while not board.is_over():\n    board.step(ask_model(f'{board.render()} Now?'))",
    "an attribute": "while not board.is_over():\n    board.last = ask_model(board.render())",
    "what the step gives": (
        "text, over = board.render(), False\nwhile not over:\n    move = ask_model(text)\n"
        "    text, over = board.step(move)"
    ),
    "a dict": "for turn in range(9):\n    cells[turn] = ask_model(f'{cells}. Your move?')",
    "a prompt of its own": (
        "while not board.is_over():\n    prompt = board.render()\n    answer = ask_model(prompt)\n"
        "    move = answer.strip()\n    board.step(move)"
    ),
}
# In these loops no prompt depends on a reply.
APART = {
    "a tally": "for text in seed:\n    tally.add(ask_model(text))",
    "a dict": "for text in seed:\n    cells[text] = ask_model(text)",
    "a list": "for text in seed:\n    found.append(ask_model(text))",
    "a board each": "for text in seed:\n    ask_model(Board(text).render())",
}


def entries(loop: str, start: str = START) -> list[str]:
    """Return the candidates that are likeliest, of a module whose ``play`` has this loop."""
    body = "".join(f"    {line}\n" for line in loop.splitlines())
    name = "main()" if "main" in start else "play(3)"
    text = f"{BOARD}{start}{body}\n\nif __name__ == '__main__':\n    {name}\n"
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())]).entry_points
    return [each.called for each in found if each.score == found[0].score]


@pytest.mark.parametrize("name", PLAYED)
def test_the_loop_is_the_episode(name: str) -> None:
    assert entries(PLAYED[name]) == ["play"]


@pytest.mark.parametrize("name", PLAYED)
def test_a_loop_that_starts_by_itself_is_it_too(name: str) -> None:
    assert entries(PLAYED[name], MAIN) == ["main"]


@pytest.mark.parametrize("name", APART)
def test_a_loop_over_rows_is_no_episode(name: str) -> None:
    assert entries(APART[name], MAIN) == ["ask_model"]
