"""What stands around requests, and what only gives values to it or plays a part of it."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest
from agent_files import art_adapt
from test_parts_of_an_episode import ASK, watch
from watched_agents import entry_of

SORT = ASK + dedent("""\

    aclient = AsyncOpenAI()
    MAILS = ["The lamp is broken.", "Where is my parcel?", "Thanks for the chair."]


    async def sort_mail(mail: str) -> str:
        asked = [{"role": "user", "content": f"Name the topic: {mail}"}]
        reply = await aclient.chat.completions.create(model="m", messages=asked)
        return reply.choices[0].message.content


    """)
# Utilities that yield a few of many things at a time, and what goes through them.
YIELDS = {
    "batches": """\
    def batched(items, size):
        for at in range(0, len(items), size):
            yield items[at : at + size]


    async def main():
        for batch in batched(MAILS, 2):
            await asyncio.gather(*map(sort_mail, batch))
    """,
    "an asynchronous generator": """\
    async def batched(items, size):
        for at in range(0, len(items), size):
            await asyncio.sleep(0)
            yield items[at : at + size]


    async def main():
        async for batch in batched(MAILS, 2):
            await asyncio.gather(*map(sort_mail, batch))
    """,
    "a method": """\
    class Box:
        def __init__(self, mails):
            self.mails = mails

        def __iter__(self):
            yield from self.mails


    async def main():
        tasks = []
        for mail in Box(MAILS):
            tasks.append(asyncio.create_task(sort_mail(mail)))
            await tasks[-1]
    """,
    "a context manager": """\
    import contextlib


    @contextlib.contextmanager
    def opened(path):
        yield MAILS


    async def main():
        with opened("mails") as mails:
            await asyncio.gather(*map(sort_mail, mails))
    """,
    "threads": """\
    from concurrent.futures import ThreadPoolExecutor


    def batched(items, size):
        for at in range(0, len(items), size):
            yield items[at : at + size]


    async def main():
        for batch in batched(MAILS, 2):
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(lambda mail: asyncio.run(sort_mail(mail)), batch))
    """,
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


@pytest.mark.parametrize("way", YIELDS)
def test_what_yields_the_rows_is_not_around_them(way: str, project: Path) -> None:
    text = f"{SORT}{dedent(YIELDS[way])}\n\nasyncio.run(main())\n"
    (project / "agent.py").write_text(text)
    said = watch(project, "agent.py")
    assert "episode  sort_mail (agent.py:" in said, said


def test_an_agent_that_yields_what_it_does_is_around_its_requests(
    project: Path,
) -> None:
    """Its requests are made in it, whatever goes through what it yields."""
    agent = """\
    def answer(question: str):
        plan = ask(f"Plan: {question}")
        yield "planned"
        yield ask(f"Answer {question} by the plan: {plan}")


    for each in answer(sys.argv[1]):
        print(each)
    """
    (project / "agent.py").write_text(ASK + dedent(agent))
    watch(project, "agent.py", "How do bees dance?")
    assert entry_of(project)["value"] == "answer"


FORKS = {
    "a process for each mail": """\
    import multiprocessing


    def enqueue(mail: str):
        process = multiprocessing.get_context("fork").Process(target=handle, args=(mail,))
        process.start()
        return process


    for each in MAILS:
        enqueue(each).join()
    """,
    "a pool": """\
    import multiprocessing


    def enqueue(mails: list):
        with multiprocessing.get_context("fork").Pool(2) as pool:
            pool.map(handle, mails)


    enqueue(MAILS)
    """,
    "a fork": """\
    import os


    def enqueue(mail: str):
        if child := os.fork():
            os.waitpid(child, 0)
        else:
            handle(mail)
            os._exit(0)


    for each in MAILS:
        enqueue(each)
    """,
}


@pytest.mark.parametrize("way", FORKS)
def test_what_a_forked_process_runs_is_the_episode(way: str, project: Path) -> None:
    """It has no run of its own in the notes but the one that it was forked from."""
    handle = """\
    def handle(mail: str) -> str:
        return asyncio.run(sort_mail(mail)) + ask(f"Answer: {mail}")


    """
    (project / "agent.py").write_text(SORT + dedent(handle) + dedent(FORKS[way]))
    said = watch(project, "agent.py")
    assert "Seen: 6 requests" in said, said
    assert "episode  handle (agent.py:" in said, said


GAME = """\
import random
from abc import ABC, abstractmethod


class Player(ABC):
    def __init__(self, name: str, heard: list):
        self.name, self.heard = name, heard

    def summary(self, state: dict) -> str:
        return f"Day {state['day']}. Last said: {self.heard[-3:]}"

    @abstractmethod
    def speak(self, state: dict) -> str: ...


class Villager(Player):
    def speak(self, state: dict) -> str:
        return ask(f"You are {self.name}, a villager. {self.summary(state)}")


class Wolf(Player):
    def speak(self, state: dict) -> str:
        return ask(f"You are {self.name}, a wolf. {self.summary(state)}")


class Game:
    def __init__(self, seed: int):
        names = ["Ada", "Bo", "Cy"]
        random.Random(seed).shuffle(names)
        self.heard, self.day = [], 0
        self.players = {name: Villager(name, self.heard) for name in names[1:]}
        self.players[names[0]] = Wolf(names[0], self.heard)

    def play_day(self):
        self.day += 1
        for name in sorted(self.players):
            self.heard.append(self.players[name].speak({"day": self.day}))

    def play_night(self):
        for player in self.players.values():
            if isinstance(player, Wolf):
                self.heard.append(player.speak({"day": self.day}))

    def PLAY(self) -> str:
        for _ in range(2):
            self.play_day()
            if not self.heard:
                return "lost"
            self.play_night()
        return "won"


if __name__ == "__main__":
    print(Game(int(sys.argv[1])).PLAY())
"""


@pytest.mark.parametrize("name", ["run", "play", "tournament"])
def test_a_stage_that_its_object_runs_again_is_no_episode(
    name: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "agent.py").write_text(ASK + GAME.replace("PLAY", name))
    for seed in ("3", "8", "21"):
        watch(project, "agent.py", seed)
    assert entry_of(project)["value"] == f"Game.{name}"
    # The outcome is the code's own, and was the same in the runs: that is no finding.
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert art_adapt("-y", "--isolated", "agent.py", cwd=project).returncode == 0
    done = art_adapt("rehearse", "--json", "agent_train.py", cwd=project)
    told = json.loads(done.stdout)
    assert [each["name"] for each in told["findings"]] == [], told["findings"]
    assert "episodes end with different answers" in told["unwitnessed"], told


INDEXED = """\
class Index:
    def __init__(self, rows):
        self.rows = dict(rows)

    def find(self, word):
        return self.rows.get(word, "nothing")


class Desk:
    def __init__(self, tone: str = "kind"):
        self.tone = tone

    def index(self, size):
        return MADE

    def answer(self, index, question: str) -> str:
        return ask(f"Be {self.tone}. {question} We know {FOUND}.")


def reply(desk, index, question: str) -> str:
    return desk.answer(index, f"A customer asks: {question}")


def main(*questions):
    desk = Desk("short")
    index = desk.index(3)
    for question in questions:
        print(reply(desk, index, question))


if __name__ == "__main__":
    main(*sys.argv[1:])
"""
# What a run gives by a parameter that nothing annotates, and what of it the agent asks with.
LIVE = {
    "an object": ("Index([('bees', 'dance')])", "index.find('bees')"),
    "a tuple with an object": ("(Index([('bees', 'dance')]), size)", "index[1]"),
    "a connection": (
        "__import__('sqlite3').connect(':memory:')",
        "index.total_changes",
    ),
    "a function": ("[('bees', 'dance')].index", "bool(index)"),
}


@pytest.mark.parametrize("kind", LIVE)
def test_a_live_object_is_made_as_the_project_makes_it(
    kind: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no field of a row, though no annotation says so."""
    made, said = LIVE[kind]
    text = INDEXED.replace("MADE", made).replace("FOUND", said)
    (project / "agent.py").write_text(ASK + text)
    watch(project, "agent.py", "How do bees dance?", "Where do bees sleep?")
    watch(project, "agent.py", "When do bees wake up?")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    done = art_adapt("-y", "--isolated", "agent.py", cwd=project)
    module = (project / "agent_train.py").read_text()
    assert "index = desk.index(3)" in module, done.stderr.decode() + module
    assert "scenario.index" not in module and "fill_in(" not in module
    rehearsed = art_adapt("rehearse", "--json", "agent_train.py", cwd=project)
    assert json.loads(rehearsed.stdout)["findings"] == []


JUDGE = """\
from openai import AsyncOpenAI, OpenAI


def asked(trajectory):
    text = f"Grade from 0 to 1: {trajectory.final_answer}"
    return {"model": "gpt-5.4-mini", "messages": [{"role": "user", "content": text}]}


def score(trajectory, scenario):
    OpenAI().chat.completions.create(**asked(trajectory))
    return len(str(trajectory.final_answer)) / 100


async def async_score(trajectory, scenario):
    await AsyncOpenAI().chat.completions.create(**asked(trajectory))
    return len(str(trajectory.final_answer)) / 100
"""


@pytest.mark.parametrize(
    "options", [["score"], ["async_score"], ["score", "--isolate", "process"]]
)
def test_what_a_reward_asks_is_no_request_of_the_agent(
    options: list[str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An episode is compared with the watched run without its judge."""
    loop = """\
    def answer(question: str) -> str:
        return ask(f"{question} {ask('Plan: ' + question)}")


    if __name__ == "__main__":
        print(answer(sys.argv[1]))
    """
    (project / "agent.py").write_text(ASK + dedent(loop))
    (project / "rewards.py").write_text(JUDGE)
    watch(project, "agent.py", "How do bees dance?")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    name, *more = options
    reward = ("--reward", f"rewards:{name}", *more)
    assert (
        art_adapt("-y", "--isolated", *reward, "agent.py", cwd=project).returncode == 0
    )
    done = art_adapt("rehearse", "--json", "agent_train.py", cwd=project)
    told = json.loads(done.stdout)
    assert told["findings"] == [] and any(
        "sends the run's requests (2 requests)" in each for each in told["witnessed"]
    )
