"""A run shows what a function is a part of: of an object's setting up, of a task, of stages."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from agent_files import art_adapt
from watched_agents import entry_of

ASK = dedent("""\
    import asyncio
    import sys

    from openai import AsyncOpenAI, OpenAI

    client = OpenAI()


    def ask(text):
        asked = [{"role": "user", "content": text}]
        return client.chat.completions.create(model="m", messages=asked).choices[0].message.content

    """)
MASTER = dedent("""
    class Master:
        def __init__(self, setting):
            self.setting = setting

        def respond(self, text):
            return ask(f"{self.setting}: {text}")


    class Game:
        def __init__(self):
            self.master = None

        def set_up(self):
            self.master = Master(input())
            print(self.master.respond("Begin the adventure."))

        def turn(self, text):
            print(self.master.respond(text))
    """)
PLAYED = {
    "by a method": (
        "\n    def run(self):\n        self.set_up()\n"
        "        while (text := input()) != 'quit':\n            self.turn(text)\n\n\n"
        "if __name__ == '__main__':\n    Game().run()\n",
        "Game.run",
    ),
    "by a method that calls another": (
        "\n    def session(self):\n        while (text := input()) != 'quit':\n"
        "            self.turn(text)\n\n"
        "    def prepare(self):\n        self.master = Master(open(__file__))\n\n"
        "    def run(self):\n        self.prepare()\n        self.session()\n\n\n"
        "if __name__ == '__main__':\n    Game().run()\n",
        "Game.run",
    ),
    "by a function": (
        "\n\ndef main():\n    game = Game()\n    game.set_up()\n"
        "    while (text := input()) != 'quit':\n        game.turn(text)\n\n\n"
        "if __name__ == '__main__':\n    main()\n",
        "main",
    ),
}


def watch(folder: Path, *command: str, typed: str = "") -> str:
    """Watch a command, and return what capture says."""
    done = subprocess.run(
        [sys.executable, "-m", "art_adapt", "capture", "--scripted", "--", sys.executable, *command],
        cwd=folder,
        input=typed.encode(),
        capture_output=True,
        check=False,
    )  # fmt: skip
    return done.stderr.decode()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


@pytest.mark.parametrize("how", PLAYED)
def test_a_turn_needs_what_set_its_object_up(how: str, project: Path) -> None:
    """A new game has no master: the episode is what makes both calls."""
    played, name = PLAYED[how]
    (project / "agent.py").write_text(ASK + MASTER + played)
    watch(project, "agent.py", typed="A tavern by the sea\nI look around\nquit\n")
    assert entry_of(project)["value"] == name


TASKS = ASK + dedent("""
    aclient = AsyncOpenAI()


    async def guess(word):
        asked = [{"role": "user", "content": f"Guess what {word} stands for."}]
        reply = await aclient.chat.completions.create(model="m", messages=asked)
        return reply.choices[0].message.content


    class Table:
        def __init__(self):
            self.done = asyncio.Event()

        async def work(self, word):
            await guess(word)
            self.done.set()

        async def start(self, word: str):
            asyncio.create_task(self.work(word))


    async def main(word: str):
        table = Table()
        await table.start(word)
        await table.done.wait()


    asyncio.run(main(sys.argv[1]))
    """)


def test_what_returned_before_the_model_was_asked_ran_no_episode(project: Path) -> None:
    (project / "agent.py").write_text(TASKS)
    watch(project, "agent.py", "bees in the garden")
    assert entry_of(project)["value"] != "Table.start"


STAGES = ASK + dedent("""
    class Writer:
        def outline(self, title: str):
            return ask(f"Write an outline of a course on {title}")

        def lecture(self, number: int):
            return ask(f"Write lecture number {number}")
    """)


def test_requests_in_no_episode_are_said(project: Path) -> None:
    (project / "agent.py").write_text(STAGES)
    (project / "drive.py").write_text(
        "from agent import Writer\n\nwriter = Writer()\nprint(writer.outline('Tide pools'))\n"
        "print(writer.lecture(1), writer.lecture(2))\n"
    )
    watch(project, "drive.py")
    said = art_adapt("--diff", "agent.py", cwd=project).stderr.decode()
    assert "2 of 3 requests are in no episode: Writer.lecture" in said


STREAMED = ASK + dedent("""
    def stream(text):
        asked = [{"role": "user", "content": text}]
        for chunk in client.chat.completions.create(model="m", messages=asked, stream=True):
            choice = chunk.choices[0]
            yield choice.delta.content or "", choice.finish_reason


    def answer(text: str):
        said = ""
        for part, finished in stream(text):
            said += part
            if finished:
                break  # nobody reads the stream to its end
        return said


    print(answer(sys.argv[1]))
    """)


def test_a_reply_is_known_though_its_stream_is_left(project: Path) -> None:
    (project / "agent.py").write_text(STREAMED)
    watch(project, "agent.py", "How are you today?")
    notes = (project / ".art-adapt" / "seen.jsonl").read_text().splitlines()
    said = [note for note in map(json.loads, notes) if "said" in note]
    assert len(said) == 1 and said[0]["message"]["content"]


SETTINGS = dedent("""\
    import sys

    from openai import OpenAI


    def solve(topic: str, seconds: float = 60, style: str = "plain", turns: int = 5):
        left = f"You have {seconds} seconds, {style}, {turns} turns. " if seconds < 1e9 else ""
        asked = [{"role": "user", "content": f"{left}Write about {topic}."}]
        return OpenAI().chat.completions.create(model="m", messages=asked).choices[0].message.content


    print(solve(sys.argv[1], GIVEN))
    """)
SAME = {
    "seconds=float('inf')": 'seconds=float("inf")',
    "seconds=1234.5": "seconds=1234.5",
    "style='like a pirate'": 'style="like a pirate"',
    "turns=5, seconds=90": "seconds=90",
}


@pytest.mark.parametrize("given", SAME)
def test_what_several_runs_gave_stays_as_it_was(given: str, project: Path) -> None:
    (project / "agent.py").write_text(SETTINGS.replace("GIVEN", given))
    for topic in ("bees in the garden", "owls of the north"):
        watch(project, "agent.py", topic)
    patch = art_adapt("--diff", "agent.py", cwd=project).stdout.decode()
    assert SAME[given] in patch and "topic=scenario.topic" in patch


SCRIPT = dedent("""\
    from openai import OpenAI

    client = OpenAI()


    def reply_to(messages):
        return client.chat.completions.create(model="m", messages=messages).choices[0].message


    if __name__ == "__main__":
        messages = []
        while (text := input()) != "quit":
            messages.append({"role": "user", "content": text})
            message = reply_to(messages)
            messages.append(message)
            print(message.content)
    """)


def test_the_helper_of_a_script_is_no_episode_of_one_request(project: Path) -> None:
    (project / "agent.py").write_text(SCRIPT)
    watch(project, "agent.py", typed="How are you?\nquit\n")
    assert entry_of(project)["value"] == "<module>"
    # Who has another run in mind may name the file as a whole.
    named = art_adapt("--diff", "--entry", "<module>", "agent.py", cwd=project)
    assert b"run_script(" in named.stdout, named.stderr.decode()
