"""Helpers that run in a thread what they are given: the agent's call keeps its rollout."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from agent_files import art_adapt

IMPORTS = """\
import asyncio
import functools
from concurrent.futures import ThreadPoolExecutor
from openai import OpenAI

"""
ASK = """\
    def ask(self, question):
        return self.client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": question}]
        )

"""
APART = """\
    @in_thread
    def ask_apart(self, question):
        return self.ask(question)

"""
LAMBDA = (
    'lambda: self.client.chat.completions.create(model="m",'
    ' messages=[{"role": "user", "content": question}])'
)
# A helper, how the agent asks through it, what is written, and in which class or decorator.
HELPERS = {
    "a lambda by position": (
        "async def retry(func):\n"
        "    loop = asyncio.get_running_loop()\n"
        "    return await loop.run_in_executor(None, func)\n",
        f"await retry({LAMBDA})",
        "carried(func)",
    ),
    "a lambda by keyword": (
        "async def retry(*, func):\n"
        "    loop = asyncio.get_running_loop()\n"
        "    return await loop.run_in_executor(None, func)\n",
        f"await retry(func={LAMBDA})",
        "carried(func)",
    ),
    "a partial, through two helpers": (
        "async def inner(work):\n"
        "    loop = asyncio.get_running_loop()\n"
        "    return await loop.run_in_executor(None, work)\n"
        "async def retry(func):\n"
        "    return await inner(func)\n",
        "await retry(functools.partial(self.ask, question))",
        "carried(work)",
    ),
    "a method of a pool": (
        "class Pool:\n"
        "    def __init__(self):\n"
        "        self.threads = ThreadPoolExecutor()\n"
        "    async def go(self, work, *args):\n"
        "        return await asyncio.wrap_future(self.threads.submit(work, *args))\n",
        "await Pool().go(self.ask, question)",
        "carried(work)",
    ),
    "a method that is called as a pool's": (
        "class Jobs:\n"
        "    def __init__(self):\n"
        "        self.pool = ThreadPoolExecutor()\n"
        "    async def submit(self, work):\n"
        "        return await asyncio.wrap_future(self.pool.submit(work))\n",
        f"await Jobs().submit({LAMBDA})",
        "carried(work)",
    ),
    "kept in an object": (
        "class Job:\n"
        "    def __init__(self, work):\n"
        "        self.work = work\n"
        "    async def go(self):\n"
        "        loop = asyncio.get_running_loop()\n"
        "        return await loop.run_in_executor(None, self.work)\n",
        f"await Job({LAMBDA}).go()",
        "carried(self.work)",
    ),
    "a decorator": (
        "def in_thread(work):\n"
        "    @functools.wraps(work)\n"
        "    async def wrapper(*args):\n"
        "        loop = asyncio.get_running_loop()\n"
        "        return await loop.run_in_executor(None, functools.partial(work, *args))\n"
        "    return wrapper\n",
        "await self.ask_apart(question)",
        "carried(functools.partial(work, *args))",
    ),
}
NOT_THE_MODEL = "retry(lambda: open('notes.txt').read())"


def _written(folder: Path, helper: str, body: str, apart: bool) -> str:
    agent = (
        "class Agent:\n    def __init__(self):\n        self.client = OpenAI()\n\n"
        + (ASK if "self.ask" in body else "")
        + (APART if "ask_apart" in body else "")
        + textwrap.indent(f"async def run(self, question: str) -> str:\n{body}", "    ")
    )
    (folder / "helpers.py").write_text(IMPORTS + helper)
    where = "from helpers import *\n" if apart else helper
    (folder / "agent.py").write_text(f"{IMPORTS}{where}\n\n{agent}")
    done = art_adapt("agent.py", "-y", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return (folder / ("helpers.py" if apart else "agent.py")).read_text()


@pytest.mark.parametrize("apart", [False, True], ids=["one file", "a file of its own"])
@pytest.mark.parametrize("name", HELPERS)
def test_a_call_that_a_helper_runs_in_a_thread_keeps_its_rollout(
    tmp_path: Path, name: str, apart: bool
) -> None:
    helper, asked, carried = HELPERS[name]
    body = f"    reply = {asked}\n    return reply.choices[0].message.content\n"
    assert carried in _written(tmp_path, helper, body, apart)


def test_what_a_helper_runs_for_something_else_is_left_alone(tmp_path: Path) -> None:
    helper, _, _ = HELPERS["a lambda by position"]
    body = (
        f"    notes = await {NOT_THE_MODEL}\n"
        "    return self.ask(question + notes).choices[0].message.content\n"
    )
    assert "carried" not in _written(tmp_path, helper, body, apart=False)


# Methods of the project that are called as an executor's, and take the task itself.
OWN = {
    "of an object": (
        "class Session:\n"
        "    def submit(self, text):\n"
        "        return Agent().ask(text).choices[0].message.content\n",
        "    session = Session()\n    return session.submit(question)\n",
    ),
    "of a parameter": (
        "class Session:\n"
        "    def submit(self, text):\n"
        "        return Agent().ask(text).choices[0].message.content\n\n"
        "def through(session: Session, text):\n    return session.submit(text)\n",
        "    return through(Session(), question)\n",
    ),
    "named as a pool's": (
        "class Pool:\n"
        "    def apply(self, text):\n"
        "        return Agent().ask(text).choices[0].message.content\n",
        "    pool = Pool()\n    return pool.apply(question)\n",
    ),
}


@pytest.mark.parametrize("kind", OWN)
def test_a_method_that_is_called_as_an_executor_s_is_not_one(
    kind: str, tmp_path: Path
) -> None:
    helper, body = OWN[kind]
    agent = (
        "class Agent:\n    def __init__(self):\n        self.client = OpenAI()\n\n"
        f"{ASK}\n{helper}\n\ndef run(question: str) -> str:\n{body}"
    )
    (tmp_path / "agent.py").write_text(f"{IMPORTS}\n{agent}")
    done = art_adapt("agent.py", "-y", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    text = (tmp_path / "agent.py").read_text()
    assert "recorded(" in text and "carried" not in text
