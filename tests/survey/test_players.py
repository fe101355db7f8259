"""What a game is made with: the player that asks the model, and no two engines of a test."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import art_adapt

FILES = {
    "player.py": "class Player:\n    def move(self, board):\n        raise NotImplementedError\n",
    "engine.py": (
        "from player import Player\n\n\nclass Engine(Player):\n    def __init__(self, level=1):\n"
        "        self.level = level\n\n    def move(self, board):\n        return str(len(board))\n"
    ),
    "asking.py": (
        "from openai import OpenAI\n\nfrom player import Player\n\n\nclass Asking(Player):\n"
        "    def __init__(self, name):\n        self.name = name\n\n    def move(self, board):\n"
        '        messages = [{"role": "user", "content": str(board)}]\n'
        '        reply = OpenAI().chat.completions.create(model="m", messages=messages)\n'
        "        return reply.choices[0].message.content\n"
    ),
    "game.py": (
        "from player import Player\n\n\nclass Game:\n"
        "    def __init__(self, first: Player, second: Player):\n        self.players = [first, second]\n"
        "        self.board = []\n\n    def play(self, most: int = 9) -> str:\n"
        "        while len(self.board) < most:\n"
        "            self.board.append(self.players[len(self.board) % 2].move(self.board))\n"
        '        return "over"\n'
    ),
    "test_game.py": (
        "from engine import Engine\nfrom game import Game\n\n\ndef samples():\n"
        "    return Game(Engine(3), Engine(level=2)).play(4)\n"
    ),
}
HEAD = (
    "from asking import Asking\nfrom engine import Engine\nfrom game import Game\n\n\n"
)
RUNS = {
    "as it is": (
        'def evaluate():\n    print(Game(Asking("m"), Engine(2)).play())\n',
        'Game(first=Asking("m"), second=Engine(2))',
    ),
    "for each of some levels": (
        "def evaluate(name):\n    for level in [1, 2]:\n        asking = Asking(name)\n"
        "        print(Game(asking, Engine(level)).play())\n",
        'training.fill_in("second: Player, as in evaluate.py',
    ),
}


@pytest.mark.parametrize("run", RUNS)
def test_a_game_is_made_with_who_asks_the_model(run: str, tmp_path: Path) -> None:
    text, made = RUNS[run]
    (tmp_path / "pyproject.toml").touch()
    for name, content in {**FILES, "evaluate.py": HEAD + text}.items():
        (tmp_path / name).write_text(content)
    done = art_adapt("--isolated", "asking.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    written = (tmp_path / "game_train.py").read_text()
    assert made in written, written
    assert "Engine(3)" not in written
