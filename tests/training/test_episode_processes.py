"""Episodes in processes of their own: as fresh as a new interpreter, imported once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from scripted_engine import Engine

# A module as the agent's: it keeps state, and says where it was imported.
AGENT = """\
import os
import pathlib
import sys

from art_adapt.hooks import recorded
from openai import OpenAI
from openai.types.chat.chat_completion import ChatCompletion, Choice

IMPORTED_BY = os.getpid()
ARGUMENTS = sys.argv[1:]
with pathlib.Path("imports.txt").open("a") as file:
    print(os.getpid(), __name__, file=file)
client = OpenAI(api_key="production", base_url="http://127.0.0.1:1")
memory = []


def run(question):
    assert not ARGUMENTS  # they are the training run's
    # Threads that need them first at the same time would break them.
    assert ChatCompletion.__pydantic_complete__ and Choice.__pydantic_complete__
    memory.append({"role": "user", "content": question})
    for _ in range(3):
        answer = recorded(client.chat.completions.create)(model="m", messages=memory)
        memory.append(answer.choices[0].message.model_dump(exclude_unset=True))
        memory.append({"role": "user", "content": "go on"})
    return len(memory), os.getpid(), IMPORTED_BY
"""
TRAIN = """\
import art_adapt.recording
import asyncio
import json
import sys

import art
import agent
from art_adapt import training


@training.isolated(at_once=4, timeout=60)
async def rollout(model, scenario):
    return await training.record(model, scenario, agent.run)


async def main(base_url, number):
    model = art.Model(
        name="m", project="p", inference_base_url=base_url, inference_api_key="k",
        inference_model_name="policy",
    )
    found = await asyncio.gather(*(rollout(model, f"{n}?") for n in range(number)))
    print(json.dumps([
        (t.final_answer, len(t.messages_and_choices), t.scenario) for t in found
    ]))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


def run(folder: Path, engine: Engine, *arguments: str, number: int = 8) -> Any:
    done = subprocess.run(
        [sys.executable, *arguments, engine.base_url, str(number)],
        cwd=folder,
        capture_output=True,
        timeout=300,
        env={**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout.splitlines()[-1]), done.stderr.decode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "agent_train.py").write_text(TRAIN)
    return tmp_path


def imports(folder: Path) -> list[str]:
    return (folder / "imports.txt").read_text().splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("command", [("agent_train.py",), ("-m", "agent_train")])
def test_each_episode_finds_modules_as_they_were_imported(
    folder: Path, command: tuple[str, ...]
) -> None:
    with Engine() as engine:
        found, _ = run(folder, engine, *command)
    assert [scenario for *_, scenario in found] == [f"{n}?" for n in range(8)]
    # What one leaves in its modules no other sees, and each is whole.
    assert {(answer[0], items) for answer, items, _ in found} == {(7, 6)}
    assert len({answer[1] for answer, *_ in found}) == 8
    if sys.platform == "linux":  # here, and where the others are forked from
        assert len({answer[2] for answer, *_ in found}) == 1
        assert len(imports(folder)) == 2


HELD = {
    "start threads when they are imported (beat)": (
        "import threading, time\n"
        "beat = threading.Thread(target=time.sleep, args=(60,), name='beat', daemon=True)\n"
        "beat.start()\n",
        "beat.is_alive()",
    ),
    "open socket:": (
        "import socket\nheld = socket.socket()\nheld.bind(('127.0.0.1', 0))\n",
        "held.getsockname()[1] > 0",
    ),
    "notes.db when they are imported": (
        "import sqlite3\nheld = sqlite3.connect('notes.db', check_same_thread=False)\n"
        "held.execute('create table if not exists t (x)')\n",
        "held.execute('select 1').fetchone() == (1,)",
    ),
    "libraries start threads of their own": (
        "import torch\ntorch.set_num_threads(2)\nheld = torch.randn(600, 600)\n"
        "held = held @ held\n",
        "(held @ held).shape == (600, 600)",
    ),
    "seed or draw random numbers": (
        "import random\nrandom.seed(42)\n",
        "random.random() == random.Random(42).random()",
    ),
    "importing them ends that process": (
        "import sys\nif 'forkserver' in str(sys.orig_argv): os._exit(3)\n",
        "1",
    ),
    "importing them takes more than 5 seconds": (
        "import sys, time\nif 'forkserver' in str(sys.orig_argv): time.sleep(600)\n",
        "1",
    ),
    "open anon_inode:[eventpoll], socket:": (
        "import asyncio\nloop = asyncio.new_event_loop()\n",
        "loop.run_until_complete(asyncio.sleep(0, True))",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("said", HELD)
def test_where_a_fork_would_share_or_lack_something_each_process_imports_it(
    said: str, folder: Path
) -> None:
    made, used = HELD[said]
    text = AGENT.replace("memory = []\n", f"memory = []\n{made}")
    text = text.replace("return len(memory)", f"return len(memory) * ({used})")
    (folder / "agent.py").write_text(text)
    if "5 seconds" in said:
        patience = "from art_adapt import training\nfrom art_adapt.training import isolation\nisolation.STARTING = 5"
        patient = TRAIN.replace("from art_adapt import training", patience)
        (folder / "agent_train.py").write_text(patient)
    with Engine() as engine:
        found, stderr = run(folder, engine, "agent_train.py", number=6)
    assert {(answer[0], items) for answer, items, _ in found} == {(7, 6)}
    assert len({answer[2] for answer, *_ in found}) == 6
    if sys.platform == "linux":
        assert said in stderr
        assert "has imported ART:" not in stderr  # of which they were forked


@pytest.mark.slow
def test_forks_draw_random_numbers_of_their_own_and_print_once(folder: Path) -> None:
    text = AGENT.replace("import os\n", "import os\nimport random\nimport numpy\n", 1)
    text = text.replace("client = ", "print('imported')\nclient = ", 1)
    drawn = "return (random.random(), numpy.random.random()), os.getpid(), IMPORTED_BY"
    text = text.replace("return len(memory), os.getpid(), IMPORTED_BY", drawn)
    (folder / "agent.py").write_text(text)
    with Engine() as engine:
        done = subprocess.run(
            [sys.executable, "agent_train.py", engine.base_url, "4"],
            cwd=folder,
            capture_output=True,
            timeout=300,
        )
    assert done.returncode == 0, done.stderr.decode()
    *before, last = done.stdout.decode().splitlines()
    numbers = [tuple(answer[0]) for answer, *_ in json.loads(last)]
    assert len({first for first, _ in numbers}) == 4
    assert len({second for _, second in numbers}) == 4
    if sys.platform == "linux":
        assert (
            before.count("imported") == 2
        )  # here, and where the others are forked from


@pytest.mark.slow
def test_forks_have_the_environment_and_the_modules_of_the_one_that_starts_them(
    folder: Path,
) -> None:
    """A file of the working folder hides no library, which a fork server's path would."""
    inner = folder / "inner"
    inner.mkdir()
    text = AGENT.replace("return len(memory)", "return os.environ['STEP']")
    (inner / "agent.py").write_text(text)
    one_by_one = """
    found = []
    for n in range(number):
        os.environ["STEP"] = str(n)
        found.append(await rollout(model, f"{n}?"))
"""
    start = TRAIN.index("    found = ")
    train = TRAIN[:start] + one_by_one.lstrip("\n") + TRAIN[TRAIN.index("    print(") :]
    (inner / "agent_train.py").write_text(f"import os\n{train}")
    (folder / "yaml.py").write_text("raise RuntimeError('a script, no library')\n")
    with Engine() as engine:
        found, stderr = run(folder, engine, "inner/agent_train.py", number=2)
    assert [answer[0] for answer, *_ in found] == ["0", "1"]
    assert "forked" not in stderr


@pytest.mark.slow
def test_an_agent_that_asks_its_own_loop(folder: Path) -> None:
    """An async agent's clients are made in each process, for its own loop."""
    text = AGENT.replace("OpenAI", "AsyncOpenAI").replace("def run", "async def run")
    text = text.replace("recorded(client", "await recorded(client")
    (folder / "agent.py").write_text(text)
    with Engine() as engine:
        found, _ = run(folder, engine, "agent_train.py", number=4)
    assert {(answer[0], items) for answer, items, _ in found} == {(7, 6)}


@pytest.mark.slow
def test_an_import_that_fails_says_so(folder: Path) -> None:
    """It works in the train module's own process, and in none that is forked."""
    text = f"import os\nif os.environ.get('PARENT') != str(os.getpid()): raise KeyError('x')\n{AGENT}"
    (folder / "agent.py").write_text(text)
    train = TRAIN.replace(
        "import asyncio\n",
        "import asyncio, os\nos.environ.setdefault('PARENT', str(os.getpid()))\n",
    )
    (folder / "agent_train.py").write_text(train)
    with Engine() as engine:
        done = subprocess.run(
            [sys.executable, "agent_train.py", engine.base_url, "2"],
            cwd=folder,
            capture_output=True,
            timeout=120,
        )
    assert done.returncode == 1
    assert b"KeyError: 'x'" in done.stderr and b"exit code 1" in done.stderr
