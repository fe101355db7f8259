"""Episodes in copies of the project's folder: what one writes, no other sees, nor the project."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from scripted_engine import Engine

from art_adapt import project_copy
from art_adapt.recording import RecordingError
from art_adapt.training import project_copies

AGENT = """\
import os
import pathlib
import sqlite3

from art_adapt.hooks import recorded
from openai import OpenAI

DATABASE = pathlib.Path(__file__).resolve().parent / "data" / "stock.db"
NOTES = pathlib.Path("notes.txt")
client = OpenAI(api_key="production", base_url="http://127.0.0.1:1")
memory = []


def run(question):
    memory.append({"role": "user", "content": question})
    recorded(client.chat.completions.create)(model="m", messages=memory)
    with sqlite3.connect(DATABASE) as connection:
        connection.execute("update stock set left = left - 1")
        [left] = connection.execute("select left from stock").fetchone()
    NOTES.write_text(NOTES.read_text() + question)
    return left, NOTES.read_text(), len(memory), os.environ["NOTES"]
"""
TRAIN = """\
import asyncio
import json
import pathlib
import sys

import art
from art_adapt import training

with training.without_runs_of("run"):
    from shop import agent

FOLDER = pathlib.Path(__file__).parents[1]


@training.isolated(at_once=4, timeout=60, copy_of=FOLDER)
async def rollout(model, scenario):
    return await training.record(model, scenario, agent.run)


async def main(base_url):
    model = art.Model(
        name="m", project="p", inference_base_url=base_url, inference_api_key="k",
        inference_model_name="policy",
    )
    found = await asyncio.gather(
        *(rollout(model, f"{n}?") for n in range(4)), return_exceptions=True
    )
    print(json.dumps([getattr(t, "final_answer", repr(t)) for t in found]))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    package = tmp_path / "shop"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "agent.py").write_text(AGENT)
    (package / "agent_train.py").write_text(TRAIN)
    (tmp_path / "notes.txt").write_text("notes: ")
    with sqlite3.connect(package / "data" / "stock.db") as connection:
        connection.execute("create table stock (left)")
        connection.execute("insert into stock values (10)")
    return tmp_path


def run(folder: Path, *arguments: str) -> tuple[list[Any], str]:
    with Engine() as engine:
        done = subprocess.run(
            [sys.executable, *arguments, engine.base_url],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,
            env={
                **os.environ,
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                "NOTES": f"{folder / 'notes.txt'}",
                "PYTHONPATH": f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
            },
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[0]), done.stderr


def as_before(folder: Path) -> bool:
    with sqlite3.connect(folder / "shop" / "data" / "stock.db") as connection:
        stock = connection.execute("select left from stock").fetchall()
    return stock == [(10,)] and (folder / "notes.txt").read_text() == "notes: "


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [("shop/agent_train.py",), ("-m", "shop.agent_train")]
)
def test_no_episode_sees_what_another_wrote(
    folder: Path, command: tuple[str, ...]
) -> None:
    """Neither in a database, a file of the working folder nor in the modules."""
    found, _ = run(folder, *command)
    assert [answer[:3] for answer in found] == [
        [9, f"notes: {n}?", 1] for n in range(4)
    ]
    # The environment names the copy's files as well.
    assert len({answer[3] for answer in found}) == 4
    assert as_before(folder)


READS_RESOURCE = AGENT.replace(
    'DATABASE = pathlib.Path(__file__).resolve().parent / "data" / "stock.db"',
    "import importlib.resources\n\nDATABASE = importlib.resources.files('shop') / 'data' / 'stock.db'",
)
WRITES_CODE = AGENT.replace(
    "    return left,",
    "    made = pathlib.Path(__file__).with_name('made.py')\n    made.write_text('X = 1')\n"
    "    import importlib\n    importlib.invalidate_caches()\n    from shop import made as module\n"
    "    assert module.X == 1\n    return left,",
)
OF_A_URL = AGENT.replace(
    'DATABASE = pathlib.Path(__file__).resolve().parent / "data" / "stock.db"',
    "DATABASE = os.environ['DATABASE_URL'].removeprefix('sqlite:///')",
)
SPAWNS = AGENT.replace(
    "    return left,",
    "    import multiprocessing\n    context = multiprocessing.get_context('spawn')\n"
    "    with context.Pool(1) as pool:\n        assert pool.map(abs, [-1]) == [1]\n    return left,",
)
IS_TEMPORARY = AGENT.replace(
    "    return left,",
    "    import tempfile\n    import time\n    file = pathlib.Path(tempfile.gettempdir(), 'order.txt')\n"
    "    assert not file.exists()\n    file.write_text(question)\n    time.sleep(0.2)\n"
    "    assert file.read_text() == question\n    return left,",
)
AGENTS = {
    "a temporary file": IS_TEMPORARY,
    "a resource": READS_RESOURCE,
    "new code": WRITES_CODE,
    "a URL": OF_A_URL,
    "a pool": SPAWNS,
}


@pytest.mark.slow
@pytest.mark.parametrize("agent", AGENTS)
def test_whatever_leads_to_the_project_leads_into_the_copy(
    agent: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = folder / "shop" / "data" / "stock.db"
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{database}")
    (folder / "shop" / "agent.py").write_text(AGENTS[agent])
    found, _ = run(folder, "shop/agent_train.py")
    assert [answer[:3] for answer in found] == [
        [9, f"notes: {n}?", 1] for n in range(4)
    ], found
    assert as_before(folder) and not (folder / "shop" / "made.py").exists()


@pytest.mark.slow
def test_a_project_that_is_known_through_a_link(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """And a database that is a link itself."""
    known = tmp_path_factory.mktemp("links") / "project"
    known.symlink_to(folder)
    database = folder / "shop" / "data" / "stock.db"
    database.rename(folder / "real.db")
    database.symlink_to(folder / "real.db")
    found, _ = run(known, f"{known / 'shop' / 'agent_train.py'}")
    assert [answer[0] for answer in found] == [9] * 4, found
    assert as_before(folder)


@pytest.mark.slow
def test_a_process_that_is_not_forked_works_in_its_copy_too(folder: Path) -> None:
    """As on other systems than Linux, where it imports the project's modules first."""
    train = folder / "shop" / "agent_train.py"
    spawning = "from art_adapt.training import isolation\nisolation._cannot_fork.add('ART alone')\n"
    train.write_text(
        TRAIN.replace("\nwith training", f"\n{spawning}\nwith training", 1)
    )
    found, _ = run(folder, "shop/agent_train.py")
    assert [answer[:3] for answer in found] == [
        [9, f"notes: {n}?", 1] for n in range(4)
    ]
    assert as_before(folder)


@pytest.mark.slow
def test_what_fails_says_where_in_the_project(folder: Path) -> None:
    agent = folder / "shop" / "agent.py"
    agent.write_text(AGENT.replace("    return left", "    raise KeyError(left)  #"))
    train = folder / "shop" / "agent_train.py"
    failed = "str(t.logs)"
    train.write_text(TRAIN.replace('getattr(t, "final_answer", repr(t))', failed, 1))
    found, _ = run(folder, "shop/agent_train.py")
    assert all("KeyError" in each and f"{agent}:" in each for each in found), found


def test_what_is_installed_or_large_is_shared(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: Any
) -> None:
    monkeypatch.setattr(project_copy, "LARGEST", 100_000)
    (folder / "weights.bin").write_bytes(bytes(200_000))
    (folder / "large.db").write_bytes(project_copy.DATABASE + bytes(200_000))
    (folder / "build").mkdir()
    (folder / "env39").mkdir()
    (folder / "env39" / "pyvenv.cfg").touch()
    (folder / ".git").mkdir()
    into = tmp_path_factory.mktemp("copy")
    project_copy.fill(project_copy.Copy(folder, into))
    shared = {path.name for path in into.iterdir() if path.is_symlink()}
    assert shared == {"weights.bin", "env39", ".git"}
    assert (into / "weights.bin").stat().st_size == 200_000
    assert (into / "env39" / "pyvenv.cfg").exists()
    assert (into / "shop" / "data" / "stock.db").stat().st_size


def test_a_folder_that_is_no_project_is_refused(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: Any
) -> None:
    monkeypatch.setattr(project_copy, "MOST", 3)
    copy = project_copy.Copy(folder, tmp_path_factory.mktemp("copy"))
    with pytest.raises(RecordingError, match="too large to copy") as raised:
        project_copies.filled(copy)
    assert "FOLDER" in str(raised.value)


def test_paths_of_the_project_lead_into_the_copy_and_back(tmp_path: Path) -> None:
    copy = project_copy.Copy(tmp_path / "shop", tmp_path / "copy")
    inside = copy.inside(f"{tmp_path / 'shop' / 'a.db'}")
    assert inside == f"{tmp_path / 'copy' / 'a.db'}"
    assert copy.outside(inside) == f"{tmp_path / 'shop' / 'a.db'}"
    for other in ("", "a.db", f"{tmp_path / 'shop2' / 'a.db'}"):
        assert copy.inside(other) == copy.outside(other) == other
    installed = f"{tmp_path / 'shop' / '.venv' / 'bin'}"
    assert copy.inside(installed) == installed
