"""A rehearsal ends an episode that asks for ever, and names where a run hung."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import art_adapt
from test_rehearse import rehearse

pytestmark = pytest.mark.slow  # each asks hundreds of times, or waits

HEAD = """from openai import OpenAI

client = OpenAI()


def ask(prompt):
    try:
        return client.chat.completions.create(
            model="gpt-4o", messages=[{"role": "user", "content": prompt}]
        ).choices[0].message.content
    except Exception:
        return None
"""
AWAITING = """import asyncio
from openai import AsyncOpenAI

client = AsyncOpenAI()


async def ask(prompt):
    try:
        reply = await client.chat.completions.create(
            model="gpt-4o", messages=[{"role": "user", "content": prompt}]
        )
        return reply.choices[0].message.content
    except Exception:
        return None
"""
ENDLESS = {  # an agent, and the function with the loop
    "a loop around a helper that swallows errors": (
        HEAD
        + """

def think(question: str) -> str:
    thoughts = []
    while True:
        thoughts.append(ask(question))
        if thoughts[-1] == "no model says this":
            return thoughts[-1]
""",
        "def think",
    ),
    "a loop that another function holds": (
        HEAD
        + """

def think(question: str) -> str:
    said = ask(question)
    return said if said == "no model says this" else again(question)


def again(question: str) -> str:
    for _ in iter(int, 1):
        ask(question)
    return question
""",
        "def again",
    ),
    "a task group": (
        AWAITING
        + """

async def think(question: str) -> str:
    while True:
        async with asyncio.TaskGroup() as group:
            asked = group.create_task(ask(question))
        if asked.result() == "no model says this":
            return question
""",
        "async def ask",
    ),
    "a task": (
        AWAITING
        + """

async def think(question: str) -> str:
    while True:
        said = await ask(question)
        if said == "no model says this":
            return said
""",
        "async def think",
    ),
}


def prepared(folder: Path, agent: str, *more: str) -> None:
    (folder / "agent.py").write_text(agent)
    (folder / "rewards.py").write_text("def f(t, s):\n    return 0.5\n")
    (folder / "scenarios.jsonl").write_text(json.dumps({"question": "How many?"}))
    few = ("--rollouts-per-group", "2", "--groups-per-step", "1")
    options = ("--entry", "think", "--reward", "rewards:f", *few, *more)
    done = art_adapt(*options, "agent.py", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("isolate", ["none", "process", "copy"])
@pytest.mark.parametrize("name", ENDLESS)
def test_an_endless_episode_is_ended_and_its_loop_named(
    tmp_path: Path, name: str, isolate: str
) -> None:
    agent, function = ENDLESS[name]
    prepared(tmp_path, agent, "--isolate", isolate)
    code, said, complaints = rehearse(
        "agent_train.py", "--steps", "1", "--json", cwd=tmp_path
    )
    assert code == 1, complaints
    endless = next(f for f in json.loads(said)["findings"] if f["name"] == "endless")
    assert "asked their model 300 times" in endless["what"]
    lines = (tmp_path / "agent.py").read_text().splitlines()
    begins = next(n for n, line in enumerate(lines, 1) if line.startswith(function))
    assert Path(endless["path"]).name == "agent.py"
    assert begins < endless["line"] <= begins + 7


WAITING = {
    "in a thread": "def think(question: str) -> str:\n"
    "    ask(question)\n"
    "    time.sleep(1000)\n"
    "    return ask(question)\n",
    "in a task": "async def think(question: str) -> str:\n"
    "    ask(question)\n"
    "    await asyncio.sleep(1000)\n"
    "    return ask(question)\n",
    "with the loop blocked": "async def think(question: str) -> str:\n"
    "    ask(question)\n"
    "    time.sleep(1000)\n"
    "    return ask(question)\n",
}


@pytest.mark.parametrize("name", WAITING)
def test_a_run_that_hangs_says_where(tmp_path: Path, name: str) -> None:
    agent = f"import asyncio\nimport time\n\n{HEAD}\n\n{WAITING[name]}"
    prepared(tmp_path, agent)
    code, _, complaints = rehearse("agent_train.py", "--timeout", "9", cwd=tmp_path)
    assert code == 2
    lines = (tmp_path / "agent.py").read_text().splitlines()
    line = next(n for n, each in enumerate(lines, 1) if "(1000)" in each)
    assert f"agent.py:{line}" in complaints, complaints
