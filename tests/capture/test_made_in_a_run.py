"""A run shows which call of the project makes the agent: no other call makes it then."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from agent_files import art_adapt, first_now

GAME = dedent("""\
    from openai import OpenAI


    class Player:
        def __init__(self, client, model):
            self.client, self.model = client, model

        def move(self, board):
            asked = [{"role": "user", "content": f"Board: {board}. Your move?"}]
            reply = self.client.chat.completions.create(model=self.model, messages=asked)
            return str(reply.choices[0].message.content)


    class RandomPlayer:
        def move(self, board):
            return "pass"


    class Game:
        def __init__(self, players, opening: str):
            self.players, self.opening = list(players), opening

        def play(self):
            board = self.opening
            for player in self.players:
                board += player.move(board)
            return board
    """)
BASELINE = dedent("""\
    from game import Game, RandomPlayer


    def baseline(opening):
        players = [RandomPlayer() for _ in range(3)]
        return Game(players, opening).play()
    """)
HEAD = "import sys\n\nfrom openai import OpenAI\n\nfrom game import Game, Player, RandomPlayer\n\n\n"
# How the program that was watched makes the players, and what episode() is to do.
MADE = {
    "a module's list that grows": (
        "players = [Player(OpenAI(), 'm')]\nplayers += [RandomPlayer() for _ in range(2)]\n"
        "print(Game(players, sys.argv[1]).play())\n",
        "players",
    ),
    "a function's list that grows": (
        "def main():\n    players = [Player(OpenAI(), 'm')]\n"
        "    players += [RandomPlayer() for _ in range(2)]\n"
        "    print(Game(players, sys.argv[1]).play())\n\n\nmain()\n",
        "players += [RandomPlayer() for _ in range(2)]",
    ),
    "a list that is extended": (
        "def main():\n    players = [Player(OpenAI(), 'm')]\n    players.extend([RandomPlayer()])\n"
        "    print(Game(players, sys.argv[1]).play())\n\n\nmain()\n",
        "players.extend([RandomPlayer()])",
    ),
    "a list as it is": (
        "def main():\n    game = Game([Player(OpenAI(), 'm'), RandomPlayer()], sys.argv[1])\n"
        "    print(game.play())\n\n\nmain()\n",
        "[Player(OpenAI(), 'm'), RandomPlayer()]",
    ),
    "a keyword": (
        "def main():\n    game = Game(opening=sys.argv[1], players=[Player(OpenAI(), 'm')])\n"
        "    print(game.play())\n\n\nmain()\n",
        "[Player(OpenAI(), 'm')]",
    ),
    "what is typed": (  # nobody types it in an episode
        "def main():\n    players = [Player(OpenAI(), 'm') for _ in range(int(input()))]\n"
        "    print(Game(players, sys.argv[1]).play())\n\n\nmain()\n",
        "fill_in",
    ),
}


@pytest.mark.parametrize("kind", first_now(MADE, 2))
def test_players_are_those_of_the_run(kind: str, tmp_path: Path) -> None:
    main, shown = MADE[kind]
    (tmp_path / "game.py").write_text(GAME)
    (tmp_path / "baseline.py").write_text(BASELINE)
    (tmp_path / "main.py").write_text(HEAD + main)
    command = [sys.executable, "main.py", "e4"]
    seen = art_adapt(
        "capture", "--scripted", "--", *command, cwd=tmp_path, stdin=b"2\n"
    )
    assert "Seen: " in seen.stderr.decode(), seen.stderr
    done = art_adapt("-y", "--entry", "Game.play", "game.py", cwd=tmp_path)
    said = done.stderr.decode()
    assert done.returncode == 0, said
    module = (tmp_path / "game_train.py").read_text()
    episode = module.partition("def episode(")[2].partition("\n\n\n")[0]
    assert shown.replace("'", '"') in episode.replace("\n        ", ""), episode
    assert "range(3)" not in module
    assert "no path from here to a model call" not in said


RENDERS = """\
import json
import sys
from string import Template

from openai import OpenAI


class Runner:
    def __init__(self, room: dict, template):
        self.room, self.template = room, template

    def run(self, seed: int) -> str:
        text = self.template.substitute(title=self.room["title"])
        messages = [{"role": "user", "content": f"{text} {seed}"}]
        reply = OpenAI().chat.completions.create(model="m", messages=messages)
        return reply.choices[0].message.content


def main():
    for seed in range(1):
        made = Template(" ".join(sys.argv[1:]))
        print(Runner({"title": "The Study"}, template=made).run(seed))


if __name__ == "__main__":
    main()
"""


def test_a_live_object_that_a_run_gave_is_no_field(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(RENDERS)
    command = (sys.executable, "agent.py", "You", "are", "in", "$title.")
    done = art_adapt("capture", "--scripted", "--", *command, cwd=tmp_path)
    assert b"1 new row" in done.stderr, done.stderr
    row = json.loads((tmp_path / "scenarios.jsonl").read_text())
    assert row.keys() - {"captured"} == {"room", "seed"}
    art_adapt("--yes", "agent.py", cwd=tmp_path)
    module = (tmp_path / "agent_train.py").read_text()
    assert "    template:" not in module and "scenario.template" not in module


SETTINGS = {
    "a dataclass": "from dataclasses import dataclass\n\n\n@dataclass\nclass Settings:\n    hints: bool\n    steps: int\n",
    "pydantic": "from pydantic import BaseModel\n\n\nclass Settings(BaseModel):\n    hints: bool\n    steps: int\n",
}  # fmt: skip
STEPS = """\


class Runner:
    def __init__(self, settings: Settings):
        self.settings = settings

    def run(self, room: str) -> str:
        hint = " Look behind the painting." if self.settings.hints else ""
        messages = [{"role": "user", "content": f"You are in {room}.{hint}"}]
        for _ in range(self.settings.steps):
            reply = OpenAI().chat.completions.create(model="m", messages=messages)
            messages.append({"role": "assistant", "content": reply.choices[0].message.content})
            messages.append({"role": "user", "content": "Go on."})
        return str(messages[-2]["content"])
"""
OPTIONS = """\
import argparse

from agent import Runner, Settings


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--room", required=True)
    parser.add_argument("--hints", action="store_true")
    parser.add_argument("--steps", type=int, default=30)
    args = parser.parse_args()
    MADE
    print(runner.run(args.room))


if __name__ == "__main__":
    main()
"""
NAMED = "settings = Settings(hints=args.hints, steps=args.steps)\n    runner = Runner(settings)"
AT_ONCE = "runner = Runner(settings=Settings(hints=args.hints, steps=args.steps))"


@pytest.mark.parametrize(
    ("settings", "made"),
    first_now(
        [("a dataclass", NAMED), ("pydantic", NAMED), ("a dataclass", AT_ONCE)], 1
    ),
)
def test_settings_have_the_switches_of_the_run(
    settings: str, made: str, tmp_path: Path
) -> None:
    imported, _, record = SETTINGS[settings].partition("\n")
    (tmp_path / "agent.py").write_text(
        f"{imported}\n\nfrom openai import OpenAI\n{record}{STEPS}"
    )
    (tmp_path / "main.py").write_text(OPTIONS.replace("MADE", made))
    command = [
        sys.executable,
        "main.py",
        "--room",
        "The Study",
        "--hints",
        "--steps",
        "3",
    ]
    art_adapt("capture", "--scripted", "--", *command, cwd=tmp_path)
    art_adapt("--yes", "agent.py", cwd=tmp_path)
    module = (tmp_path / "agent_train.py").read_text()
    assert "Settings(hints=True, steps=3)" in module
    # Another run without them: no run says what an episode is to have.
    command[-3:] = ["--steps", "4"]
    art_adapt("--undo", "-y", "agent.py", cwd=tmp_path)
    art_adapt("capture", "--scripted", "--", *command, cwd=tmp_path)
    art_adapt("--yes", "agent.py", cwd=tmp_path)
    module = (tmp_path / "agent_train.py").read_text()
    assert "Settings(hints=False, steps=30)" in module or "scenario.hints" in module
