"""Where several branches make a part of an agent, a run shows which of them did."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from agent_files import art_adapt

GAME = dedent("""\
    from openai import OpenAI


    class Player:
        def __init__(self, pegs, model):
            self.pegs, self.model, self.client = pegs, model, OpenAI()

        def guess(self, history):
            asked = [{"role": "user", "content": f"{self.pegs} digits. {history}"}]
            reply = self.client.chat.completions.create(model=self.model, messages=asked)
            return reply.choices[0].message.content


    class Person:
        def guess(self, history):
            return input(history)


    class Session:
        def __init__(self, player, secret=None):
            self.player, self.secret = player, secret or [1, 2]

        def run(self):
            history = ""
            for turn in range(3):
                guess = self.player.guess(history)
                history += f"Guess: {guess}. Right: {guess == str(self.secret)}. "
            return guess
    """)
HEAD = dedent("""\
    import argparse

    from game import Person, Player, Session


    def main():
        parser = argparse.ArgumentParser()
        parser.add_argument("--mode", default="person")
        parser.add_argument("--model")
        parser.add_argument("--secret")
        args = parser.parse_args()
        secret = None
        if args.secret:
            secret = [int(digit) for digit in args.secret.split(",")]
    """)
RUN = "    print(Session(player, secret=secret).run())\n\n\nmain()\n"
OF_THE_RUN = ("--mode", "api", "--model", "gpt-4o-mini", "--secret", "4,2")
PLAYERS = {
    "if the option is given": (
        "    if args.model:\n        player = Player(2, args.model)\n"
        "    else:\n        player = Person()\n"
    ),
    "one of three branches": (
        "    if args.mode == 'api':\n        player = Player(2, args.model)\n"
        "    elif args.mode == 'person':\n        player = Person()\n"
        "    else:\n        raise SystemExit(2)\n"
    ),
    "in place of a first one": (
        "    player = Person()\n    if args.mode == 'api':\n"
        "        player = Player(2, model=args.model)\n"
    ),
    "by a match": (
        "    match args.mode:\n        case 'api':\n            player = Player(2, args.model)\n"
        "        case _:\n            player = Person()\n"
    ),
    "by its own name": (
        "    model = args.model\n    if args.mode == 'api':\n        player = Player(2, model)\n"
        "    else:\n        player = Person()\n"
    ),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "game.py").write_text(GAME)
    return tmp_path


def watched(project: Path, main: str) -> str:
    """Watch a program, and return the train module that comes of it."""
    (project / "main.py").write_text(HEAD + main + RUN)
    command = (sys.executable, "main.py", *OF_THE_RUN)
    done = art_adapt("capture", "--scripted", "--", *command, cwd=project)
    assert done.returncode == 0, done.stderr.decode()
    done = art_adapt("--isolated", "game.py", cwd=project)
    assert done.returncode == 0, done.stderr.decode()
    again = art_adapt("--isolated", "game.py", cwd=project)
    assert b"Nothing to change" in again.stdout, "its own edits hide no branch"
    return (project / "game_train.py").read_text()


@pytest.mark.parametrize("how", PLAYERS)
def test_an_episode_takes_the_branch_that_ran(how: str, project: Path) -> None:
    module = watched(project, PLAYERS[how])
    assert "Person()" not in module and "fill_in" not in module
    assert 'Player(2, "gpt-4o-mini")' in module or 'model="gpt-4o-mini"' in module


def test_what_only_an_option_gave_is_the_rows(project: Path) -> None:
    """Nobody was asked anything, though a person may play as well, and nothing else differs."""
    module = watched(project, PLAYERS["one of three branches"])
    assert "inputs" not in module and "secret=scenario.secret" in module
    (row,) = (project / "scenarios.jsonl").read_text().splitlines()
    assert json.loads(row)["secret"] == [4, 2]
