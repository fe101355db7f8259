"""A run that asked step by step in one call of a function says so, and that call can be taken."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from agent_files import art_adapt

GAME = """\
import sys
from openai import OpenAI

client = OpenAI()


def move(player, stage):
    asked = [{"role": "user", "content": f"{player}: it is the {stage} now. Decide what to do."}]
    reply = client.chat.completions.create(model="m", messages=asked)
    return reply.choices[0].message.content


def betting(stage: str, players: list[str]):
    return [move(each, stage) for each in players]


def play(rounds: int):
    log = []
    for _ in range(rounds):
        log.append(betting("pre-flop stage", ["Ann Smith", "Bob Jones"]))
        log.append(betting("turning stage", ["Ann Smith", "Bob Jones"]))
    return log


if __name__ == "__main__":
    print(play(1))
"""


@pytest.mark.wide
def test_what_ran_all_of_the_episodes_is_named(tmp_path: Path) -> None:
    (tmp_path / "game.py").write_text(GAME)
    (tmp_path / "pyproject.toml").touch()
    command = ("--scripted", "--", sys.executable, "game.py")
    done = art_adapt("capture", *command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    said = art_adapt("--diff", "game.py", cwd=tmp_path).stderr.decode()
    assert "one call of play (game.py) ran all 4 of them" in said, said
    assert "--entry game:play" in said
    taken = art_adapt("--diff", "--entry", "game:play", "game.py", cwd=tmp_path)
    assert taken.returncode == 1, taken.stderr.decode()
    assert b"play(rounds=scenario.rounds)" in taken.stdout


@pytest.mark.wide
def test_a_run_above_the_folder_that_python_looks_in(tmp_path: Path) -> None:
    """PYTHONPATH may name a folder from here, which a copy of the project has elsewhere."""
    app = tmp_path / "app"
    app.mkdir()
    (app / "pyproject.toml").touch()
    (tmp_path / "shared.py").write_text("LIMIT = 3\n")
    (app / "agent.py").write_text(
        "from openai import OpenAI\nfrom shared import LIMIT\n\n\ndef call(task: str) -> str:\n"
        '    asked = [{"role": "user", "content": f"{task} {LIMIT}"}]\n'
        '    return OpenAI().chat.completions.create(model="m", messages=asked).choices[0].message.content\n\n\n'
        'if __name__ == "__main__":\n    print(call("How are you?"))\n'
    )
    with pytest.MonkeyPatch.context() as own:
        own.setenv("PYTHONPATH", "..")
        done = art_adapt(
            "capture", "--scripted", "--", sys.executable, "agent.py", cwd=app
        )
    assert done.returncode == 0, done.stderr.decode()
    assert "1 new row" in done.stderr.decode()


STORY = """\
import random
import re
import sys
from dataclasses import dataclass

from openai import OpenAI

client = OpenAI()


@dataclass
class Config:
    people: int = 3


@dataclass
class Story:
    names: list
    killer: str
    summary: str = ""
    title: str = ""


def complete(prompt):
    asked = [{"role": "user", "content": prompt}]
    reply = client.chat.completions.create(model="gpt-4o-mini", messages=asked)
    return reply.choices[0].message.content


def details(config: Config) -> Story:
    names = random.sample(["Baker", "Cook", "Maid", "Priest", "Sailor"], config.people)
    story = Story(names=names, killer=names[0])
    story.summary = f"A murder by {story.killer}, with {names}."
    if found := re.search(r"Title: (.+)", title(story)):
        story.title = found[1].strip()
        story.summary += f"\\n\\nTitle: {story.title}"
    return story


def title(story: Story) -> str:
    return complete(f"Give a title. {story.summary}")


def write(story: Story, config: Config):
    text = complete(f"Write the plot for {story.killer}. {story.summary} As 'Plot: ...'")
    story.plots = [parse(text)]
    for name in story.names[1:]:
        prompt = f"Write the plot for {name}. {story.summary} {story.plots[0]}"
        text = complete(prompt + " ".join(story.plots))
        story.plots.append(parse(text))
    return story


def parse(text):
    return text.split("Plot:")[1]


def prose(story: Story):
    story.prose = complete(f"Write it in prose. {story.plots}")


def create(config: Config):
    story = details(config)
    story = write(story, config)
    prose(story)
    print(story.prose)


def main():
    create(Config(people=int(sys.argv[1])))


if __name__ == "__main__":
    main()
"""
REPLIES = """\
{"when": "Give a title", "content": "Title: The Quiet Knife"}
{"when": "Write the plot for", "content": "Plot: they did it"}
{"when": "in prose", "content": "It rained. They did it."}
"""


@pytest.mark.wide
def test_a_failed_run_gives_way_to_a_whole_one(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "agent.py").write_text(STORY)
    (tmp_path / "replies.jsonl").write_text(REPLIES)
    run = ("--", sys.executable, "agent.py", "4")
    failed = art_adapt("capture", "--scripted", *run, cwd=tmp_path)
    assert failed.returncode == 2, failed.stderr.decode()
    assert b"an error ended the run: it shows no whole episode" in failed.stderr
    assert not (tmp_path / "scenarios.jsonl").exists()
    replies = ("--replies", "replies.jsonl")
    done = art_adapt("capture", "--scripted", *replies, *run, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert b"1 episode of create" in done.stderr
    said = art_adapt("--diff", "agent.py", cwd=tmp_path)
    assert b"create  (seen in 1 run)" in said.stderr, said.stderr.decode()
