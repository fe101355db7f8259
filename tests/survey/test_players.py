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


SEATS = """\
import json
from openai import OpenAI


class Seat:
    def __init__(self, number: int, model: str):
        self.number, self.model = number, model

    def choose(self, log):
        messages = [{"role": "user", "content": f"You are {self.number}: {log}"}]
        reply = OpenAI().chat.completions.create(model=self.model, messages=messages)
        return reply.choices[0].message.content


class Table:
    def __init__(self, north: Seat, south: Seat):
        self.seats, self.log = [north, south], []

    def run(self) -> str:
        while len(self.log) < 6:
            self.log.append(self.seats[len(self.log) % 2].choose(self.log))
        return "over"


"""
SEATED = {
    "through names": "    north = Seat(0, names['a'])\n    south = Seat(1, names['b'])\n"
    "    print(Table(north, south).run())\n",
    "by keywords": "    one = Seat(0, names['a'])\n    other = Seat(1, names['b'])\n"
    "    print(Table(south=other, north=one).run())\n",
    "in the call": "    print(Table(Seat(0, names['a']), Seat(1, names['b'])).run())\n",
    "through a table": "    north = Seat(0, names['a'])\n    south = Seat(1, names['b'])\n"
    "    print({'cards': Table}[names['game']](north, south).run())\n",
}


@pytest.mark.parametrize("kind", SEATED)
def test_each_player_is_made_as_the_project_makes_that_one(
    kind: str, tmp_path: Path
) -> None:
    program = f"{SEATS}def match(names):\n{SEATED[kind]}"
    (tmp_path / "game.py").write_text(program)
    done = art_adapt("--isolated", "game.py", "--entry", "Table.run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    written = " ".join((tmp_path / "game_train.py").read_text().split())
    assert "fill_in" not in written
    north, south = (
        written.partition(f"{side}=Seat(")[2] for side in ("north", "south")
    )
    assert north.lstrip().startswith(("0,", "number=0,")), written
    assert south.lstrip().startswith(("1,", "number=1,")), written


@pytest.mark.parametrize(
    "handed",
    [
        "    pair = [Seat(0, names['a']), Seat(1, names['b'])]\n"
        "    south, north = pair\n    print(Table(north, south).run())\n",
        "    one = Seat(0, names['a'])\n    other = Seat(1, names['b'])\n"
        "    north, south = other, one\n    print(Table(north, south).run())\n",
    ],
)
def test_a_player_that_is_not_clear_is_left_open(handed: str, tmp_path: Path) -> None:
    (tmp_path / "game.py").write_text(f"{SEATS}def match(names):\n{handed}")
    done = art_adapt("--isolated", "game.py", "--entry", "Table.run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    written = (tmp_path / "game_train.py").read_text()
    assert written.count("fill_in(") >= 2, written


WORLD = """\
from openai import OpenAI


class Mover:
    def __init__(self, world):
        self.world = world

    def step(self, view):
        messages = [{"role": "user", "content": view}]
        reply = OpenAI().chat.completions.create(model="m", messages=messages)
        self.world.at += len(reply.choices[0].message.content)


class World:
    def __init__(self, size: int = 5):
        self.size, self.at = size, 0

    def run(self, mover, note: str) -> bool:
        for _ in range(10):
            mover.step(f"{note} {self.at}")
        return self.at > self.size


"""
MOVES = {
    "by a name": "    world = World(size=7)\n    mover = Mover(world)\n    print(world.run(mover, input()))\n",
    "in the call": "    world = World(size=7)\n    print(world.run(Mover(world=world), input()))\n",
    "under another name": "    place = World(7)\n    who = Mover(world=place)\n"
    "    print(place.run(who, note=input()))\n",
}


@pytest.mark.parametrize("kind", MOVES)
def test_what_an_agent_is_given_holds_that_agent(kind: str, tmp_path: Path) -> None:
    """Two worlds would be made: one is moved, and the other one is looked at."""
    program = f'{WORLD}if __name__ == "__main__":\n{MOVES[kind]}'
    (tmp_path / "world.py").write_text(program)
    done = art_adapt("--isolated", "world.py", "--entry", "World.run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    episode = (tmp_path / "world_train.py").read_text().partition("def episode")[2]
    episode = episode.partition("\n\n\n")[0]
    assert episode.count("World(") == 1, episode
    name = "place" if "place" in MOVES[kind] else "world"
    assert f"return {name}.run(" in episode


# The module has the object, and what it is given holds it.
OF_MODULE = {
    "at module level": "world = World(size=7)\n\nif __name__ == '__main__':\n    print(world.run(Mover(world), input()))\n",
    "in a function": "world = World(7)\n\ndef main():\n    print(world.run(mover=Mover(world=world), note=input()))\n",
    "annotated": "world: World = World(size=7)\n\ndef main():\n    mover = Mover(world)\n    print(world.run(mover, input()))\n",
}


@pytest.mark.parametrize("kind", OF_MODULE)
def test_an_object_of_the_module_is_run_as_what_it_is_given_holds_it(
    kind: str, tmp_path: Path
) -> None:
    (tmp_path / "world.py").write_text(WORLD + OF_MODULE[kind])
    done = art_adapt("--isolated", "world.py", "--entry", "World.run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert b"each episode gets a process of its own" in done.stdout
    episode = (tmp_path / "world_train.py").read_text().partition("def episode")[2]
    episode = episode.partition("\n\n\n")[0]
    assert "World(" not in episode and "return world.run(" in episode, episode


GAME = """\
import random

from players import Silent


class Game:
    def __init__(self, words, seats=2, player=Silent):
        self.words = words
        self.players = [player(seat) for seat in range(seats)]

    def play(self):
        self.said = random.choice(self.words)[:1]
        for turn in range(6):
            self.said += self.players[turn % len(self.players)].guess(self.said)
        print(self.said)


"""
PLAYERS = """\
from openai import OpenAI


class Silent:
    def __init__(self, seat):
        self.seat = seat

    def guess(self, said):
        return "e"


class Talking(Silent):
    def guess(self, said):
        messages = [{"role": "user", "content": said}]
        return OpenAI().chat.completions.create(model="m", messages=messages).choices[0].message.content
"""
TRIED = (
    'if __name__ == "__main__":\n'
    "    def quick(seat):\n        return Silent(seat)\n\n"
    "    Game(['tree'], seats=1, player=quick).play()\n"
)


@pytest.mark.parametrize("named", ["players.py", "game.py", "main.py"])
def test_the_player_that_asks_the_model_plays(named: str, tmp_path: Path) -> None:
    """One file of the project gives its class; another one tries the game without it."""
    (tmp_path / "players.py").write_text(PLAYERS)
    (tmp_path / "game.py").write_text(GAME + TRIED)
    (tmp_path / "main.py").write_text(
        "from game import Game\nfrom players import Talking\n\n"
        "if __name__ == '__main__':\n    Game(['tree', 'house'], player=Talking).play()\n"
    )
    done = art_adapt("--isolated", "--diff", named, cwd=tmp_path)
    episode = done.stdout.decode().partition("+def episode")[2].partition("+@")[0]
    assert "player=Talking" in episode and "quick" not in episode, episode


def test_a_function_of_the_program_is_taken_over(tmp_path: Path) -> None:
    """No import finds what stands below ``if __name__ == "__main__"``."""
    (tmp_path / "players.py").write_text(PLAYERS)
    talks = TRIED.replace("Silent(seat)", "Talking(seat)")
    text = f"from players import Talking\n{GAME}{talks}"
    (tmp_path / "game.py").write_text(text)
    done = art_adapt("--isolated", "game.py", "-y", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    trained = (tmp_path / "game_train.py").read_text()
    assert "    def quick(seat):" in trained and "import Game, quick" not in trained
