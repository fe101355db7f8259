"""A pydantic object that a watched run was given is made of its row again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from agent_files import art_adapt, first_now

PUZZLE = """\
import json
from enum import Enum
from pydantic import BaseModel, Field


class Direction(str, Enum):
    ACROSS = "across"
    DOWN = "down"


class Clue(BaseModel):
    text: str
    direction: DIRECTION


class Puzzle(BaseModel):
    width: int = Field(gt=0)
    clues: list[Clue]


def load(path):
    return Puzzle.model_validate(json.load(open(path)))
"""
AGENT = """\
from openai import OpenAI
from puzzle import Puzzle


def solve(PARAMETERS) -> str:
    said = ""
    for clue in puzzle.clues:
        asked = [{"role": "user", "content": f"{clue.text} ({clue.direction})"}]
        said = OpenAI().chat.completions.create(model="m", messages=asked).choices[0].message.content
    return said
"""
ROW = '{"width": 5, "clues": [{"text": "A feline friend", "direction": "across"}]}'
# How a clue says its direction, what the function takes, and what it is called with.
SPELLED = {
    "an enumeration": ("Direction", "puzzle: Puzzle", "load('easy.json')"),
    "one that may be missing": ("Direction | None", "puzzle: Puzzle", "load('easy.json')"),
    "beside another": ("Direction", "puzzle: Puzzle, hint: str", "load('easy.json'), 'Think of an animal.'"),
    "by keyword": ("Direction", "*, puzzle: Puzzle", "puzzle=load('easy.json')"),
    "quoted": ("Direction", "puzzle: 'Puzzle'", "load('easy.json')"),
}  # fmt: skip


@pytest.mark.wide
@pytest.mark.parametrize("kind", first_now(SPELLED, 2))
def test_a_pydantic_object_is_made_of_its_row(kind: str, tmp_path: Path) -> None:
    direction, parameters, given = SPELLED[kind]
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "easy.json").write_text(ROW)
    (tmp_path / "puzzle.py").write_text(PUZZLE.replace("DIRECTION", direction))
    (tmp_path / "agent.py").write_text(AGENT.replace("PARAMETERS", parameters))
    (tmp_path / "main.py").write_text(
        f"from agent import solve\nfrom puzzle import load\n\nprint(solve({given}))\n"
    )
    watched = ("--scripted", "--", sys.executable, "main.py")
    assert art_adapt("capture", *watched, cwd=tmp_path).returncode == 0
    done = art_adapt("--yes", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    text = (tmp_path / "agent_train.py").read_text()
    assert "Puzzle.model_validate(scenario.puzzle)" in text
    assert "    puzzle: dict[str, Any]\n" in text
    done = art_adapt("rehearse", "agent_train.py", cwd=tmp_path)
    assert b"Nothing found" in done.stdout, done.stdout.decode()


PROFILE = """\
from typing import Optional
from pydantic import BaseModel, Field


class Income(BaseModel):
    total: float = 0.0


class Profile(BaseModel):
    year: int
    status: str = "unknown"
    income: HELD


"""
ADVISOR = """\
from openai import OpenAI
from profile_of import Profile


def advise(profile: Profile) -> str:
    asked = [{"role": "user", "content": f"{profile.year} {profile.status} {TOLD}"}]
    return OpenAI().chat.completions.create(model="m", messages=asked).choices[0].message.content
"""
# How a record holds another one, the value of a run, what of it the model is asked, and
# whether a row has the whole record.
HELD = {
    "made by a factory": ("Income = Field(default_factory=Income)", '{"total": 48213.0}', "profile.income.total", True),
    "made for all": ("Income = Income()", '{"total": 48213.0}', "profile.income.total", True),
    "a list of them": ("list[Income] = []", '[{"total": 48213.0}]', "[e.total for e in profile.income]", True),
    "by name": ("dict[str, Income] = {}", '{"ann": {"total": 48213.0}}', "profile.income['ann'].total", True),
    "maybe none": ("Optional[Income] = None", '{"total": 48213.0}', "profile.income.total", True),
    "formatted": ("Income = Income()", '{"total": 48213.0}', "f'${profile.income.total:,.2f}'", True),
    "not asked about": ("Income = Income()", '{"total": 48213.0}', "", False),
    "the default": ("Income = Income()", '{"total": 0.0}', "profile.income.total", True),
}  # fmt: skip


@pytest.mark.wide
@pytest.mark.parametrize("kind", first_now(HELD))
def test_a_record_within_a_record_is_the_row_s(kind: str, tmp_path: Path) -> None:
    held, value, told, is_whole = HELD[kind]
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "ann.json").write_text(
        f'{{"year": 2024, "status": "single", "income": {value}}}'
    )
    (tmp_path / "profile_of.py").write_text(PROFILE.replace("HELD", held))
    (tmp_path / "agent.py").write_text(ADVISOR.replace("TOLD", told or "'all'"))
    (tmp_path / "main.py").write_text(
        "import json\nfrom agent import advise\nfrom profile_of import Profile\n\n"
        "print(advise(Profile.model_validate(json.load(open('ann.json')))))\n"
    )
    watched = ("--scripted", "--", sys.executable, "main.py")
    assert art_adapt("capture", *watched, cwd=tmp_path).returncode == 0
    done = art_adapt("--yes", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    text = (tmp_path / "agent_train.py").read_text()
    assert ("Profile.model_validate(scenario.profile)" in text) is is_whole, text
    done = art_adapt("rehearse", "--json", "agent_train.py", cwd=tmp_path)
    assert b"sends the run's requests" in done.stdout, done.stdout.decode()


EXAM = """\
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum


class Level(Enum):
    EASY = "easy"
    HARD = "hard"


@dataclass
class Question:
    text: str
    level: Level = Level.EASY


@dataclass
class Exam:
    title: str
    questions: list[Question]
    made_at: datetime = field(default_factory=datetime.now)


GEOGRAPHY = Exam("Geography of rivers", [Question("Name a river.", Level.HARD)])
"""
GRADER = """\
from typing import List, Optional
from openai import OpenAI
from exam import Exam


def grade(exams: ANNOTATION) -> str:
    said = ""
    for exam in ONE_BY_ONE:
        for question in exam.questions:
            asked = [{"role": "user", "content": f"{exam.title}: {question.text} {question.level.name} {exam.made_at.year}"}]
            said = OpenAI().chat.completions.create(model="m", messages=asked).choices[0].message.content
    return said
"""
# How the function says what it takes, how it goes through it, what it is given, and how that
# is made again.
DATACLASSES = {
    "one": ("Exam", "[exams]", "GEOGRAPHY", "TypeAdapter(Exam)"),
    "a list": ("List[Exam]", "exams", "[GEOGRAPHY]", "TypeAdapter(list[Exam])"),
    "one that may be missing": ("Optional[Exam]", "[exams]", "GEOGRAPHY", "TypeAdapter(Exam | None)"),
    "quoted": ("'Exam'", "[exams]", "GEOGRAPHY", "TypeAdapter(Exam)"),
    "by name": ("dict[str, Exam]", "exams.values()", "{'rivers': GEOGRAPHY}", "TypeAdapter(dict[str, Exam])"),
}  # fmt: skip


@pytest.mark.wide
@pytest.mark.parametrize("kind", first_now(DATACLASSES))
def test_dataclasses_are_made_of_their_row(kind: str, tmp_path: Path) -> None:
    annotation, one_by_one, given, adapter = DATACLASSES[kind]
    agent = GRADER.replace("ANNOTATION", annotation).replace("ONE_BY_ONE", one_by_one)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "exam.py").write_text(EXAM)
    (tmp_path / "agent.py").write_text(agent)
    (tmp_path / "main.py").write_text(
        "from agent import grade\nfrom exam import GEOGRAPHY\n\n\n"
        f"def given():\n    return {given}\n\n\nprint(grade(given()))\n"
    )
    told = art_adapt(
        "capture", "--scripted", "--", sys.executable, "main.py", cwd=tmp_path
    )
    assert told.returncode == 0 and b"create them again" not in told.stdout, told.stdout
    done = art_adapt("--yes", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    text = (tmp_path / "agent_train.py").read_text()
    assert f"exams={adapter}.validate_python(scenario.exams)" in text, text
    done = art_adapt("rehearse", "--json", "agent_train.py", cwd=tmp_path)
    assert b"sends the run's requests (1 request)" in done.stdout, done.stdout.decode()


GAME = """\
from openai import OpenAI


class Game:
    def __init__(self, args):
        self.args = args

    def play(self) -> str:
        asked = [{"role": "user", "content": f"You are {self.args.who}; {self.args.rounds} rounds, {self.args.loud}."}]
        return str(OpenAI().chat.completions.create(model="m", messages=asked).choices[0].message.content)


def play(options) -> str:
    return Game(options).play()
"""
PARSED = """\
import argparse
from agent import Game, play

parser = argparse.ArgumentParser()
parser.add_argument("--who", default="a careful banker")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--loud", action="store_true")
parser.add_argument("--seed", type=int)
"""
# How a program starts a game with its options, and how an episode does.
STARTED = {
    "a class": ("print(Game(parser.parse_args()).play())", "Game(args=Namespace(**scenario.args))"),
    "a function": ("print(play(parser.parse_args()))", "play(options=Namespace(**scenario.options))"),
    "with more than was parsed": (
        "args = parser.parse_args()\nargs.table = 'green'\nprint(Game(args).play())",
        "Game(args=Namespace(**scenario.args))",
    ),
    "of no parser": (
        "print(Game(argparse.Namespace(who='a careful banker', rounds=3, loud=False)).play())",
        "Game(args=Namespace(**scenario.args))",
    ),
}  # fmt: skip


@pytest.mark.wide
@pytest.mark.parametrize("kind", first_now(STARTED))
def test_the_options_of_a_command_line_are_a_row(kind: str, tmp_path: Path) -> None:
    started, made = STARTED[kind]
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "agent.py").write_text(GAME)
    (tmp_path / "main.py").write_text(f"{PARSED}{started}\n")
    watched = ("--scripted", "--", sys.executable, "main.py")
    assert art_adapt("capture", *watched, cwd=tmp_path).returncode == 0
    done = art_adapt("--yes", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert made in (tmp_path / "agent_train.py").read_text()
    done = art_adapt("rehearse", "--json", "agent_train.py", cwd=tmp_path)
    assert b"sends the run's requests (1 request)" in done.stdout, done.stdout.decode()
