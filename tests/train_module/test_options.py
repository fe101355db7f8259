"""What a train module can be asked for: other scenarios, rewards, tracers, processes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from agent_files import VARYING, art_adapt, copy_of
from scripted_engine import Engine

from train_module.test_training import ANSWERING, adapted, judged, train

YES = [{"when": {"messages": "."}, "content": "yes"}]
VARIANTS = {
    "csv, weave": ("--scenarios", "rows.csv", "--trace", "weave"),
    "rows, processes": ("--scenarios", "rows:ROWS", "--isolate", "process"),
    "dataset, langfuse, both rewards": (
        *("--scenarios", "data", "--trace", "langfuse"),
        *("--reward", "rewards:f", "--ruler-weight", "0.3"),
    ),
    "own reward, processes, open end": (
        *("--reward", "rewards:f", "--isolate", "process", "--epochs", "0"),
    ),
    "pipeline": ("--pipeline",),
    "pipeline, own reward, processes, rows": (
        *("--pipeline", "--reward", "rewards:f", "--isolate", "process"),
        *("--scenarios", "rows:ROWS"),
    ),
}


def variant(tmp_path: Path, *options: str) -> Path:
    folder = adapted("support_loop", tmp_path, *options)
    (folder / "rewards.py").write_text(VARYING)
    (folder / "rows.py").write_text('ROWS = [{"question": "a"}, {"question": "b"}]\n')
    (folder / "rows.csv").write_bytes(b'question\r\nWhat?\r\n"Why, then?"\r\n')
    return folder


def episodes(said: dict[str, Any]) -> list[dict[str, Any]]:
    return [e for groups in said["steps"] for group in groups for e in group]


@pytest.mark.slow
@pytest.mark.types
@pytest.mark.parametrize("name", VARIANTS)
def test_each_reads_as_if_written_by_hand(
    name: str, tmp_path: Path, mypy_cache: str
) -> None:
    folder = variant(tmp_path, *VARIANTS[name])
    checks = [
        ["ruff", "check", "--isolated", "--select", "E4,E7,E9,F,I,B,UP"],
        ["ruff", "format", "--isolated", "--check"],
        ["black", "--check"],
        ["mypy", mypy_cache, "--follow-imports=silent", "--ignore-missing-imports"],
    ]
    for check in checks:
        done = subprocess.run(
            [sys.executable, "-m", *check, "agent_train.py"],
            cwd=folder,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, (done.stdout + done.stderr).decode()


@pytest.mark.slow
def test_scenarios_of_a_csv_file(tmp_path: Path) -> None:
    options = ("--reward", "rewards:f", "--epochs", "1", "--scenarios", "rows.csv")
    folder = variant(tmp_path, *options)
    with Engine(YES) as engine:
        said = train(folder, engine)
        assert len(episodes(said)) == 8
        asked = {e.request["messages"][-1]["content"] for e in engine.log}
        assert asked == {"What?", "Why, then?"}
        (folder / "rows.csv").write_text("other\nx\n")
        assert "rows.csv:2: " in train(folder, engine)["stopped"]


@pytest.mark.slow
def test_scenarios_of_a_python_object(tmp_path: Path) -> None:
    options = ("--reward", "rewards:f", "--epochs", "1", "--scenarios", "rows:ROWS")
    folder = variant(tmp_path, *options)
    with Engine(YES) as engine:
        assert len(episodes(train(folder, engine))) == 8
        (folder / "rows.py").write_text('ROWS = [{"question": "a"}, {"q": "b"}]\n')
        assert train(folder, engine)["stopped"].startswith("rows:ROWS[1]: ")


@pytest.mark.parametrize(
    ("reward", "imported"),
    [
        ("rewards:f", "from .rewards import f as score"),
        ("above:f", "from ..above import f as score"),
        ("app.inner.rewards:f", "from .rewards import f as score"),
        ("app.above:f", "from ..above import f as score"),
        ("beside:f", "from beside import f as score"),
    ],
)
def test_a_reward_of_the_agents_package_is_imported_from_it(
    reward: str, imported: str, tmp_path: Path
) -> None:
    inner = copy_of("support_loop", tmp_path / "app").rename(tmp_path / "app" / "inner")
    (tmp_path / "pyproject.toml").touch()
    for path in ("app/__init__.py", "app/inner/__init__.py"):
        (tmp_path / path).touch()
    for path in ("app/inner/rewards.py", "app/above.py", "beside.py"):
        text = "def f(trajectory, scenario):\n    return 1.0\n"
        (tmp_path / path).write_text(text)
    options = ("--isolated", "--reward", reward, "app/inner/agent.py")
    done = art_adapt(*options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    module = (inner / "agent_train.py").read_text()
    assert f"{imported}\n" in module
    if imported.startswith("from .."):  # a relative one is the least sure
        assert _imported_reward(tmp_path) == 1.0


def test_a_reward_beside_files_that_are_no_package_is_imported_by_its_name(
    tmp_path: Path,
) -> None:
    """An ``__init__.py`` makes no package of files that import each other by their own names."""
    folder = copy_of("support_loop", tmp_path).rename(tmp_path / "app")
    (folder / "__init__.py").touch()
    (folder / "constants.py").write_text("LIMIT = 3\n")
    (folder / "main.py").write_text("import agent\n")
    (folder / "rewards.py").write_text("def f(trajectory, scenario):\n    return 1.0\n")
    agent = (folder / "agent.py").read_text()
    (folder / "agent.py").write_text(
        agent.replace("\nimport ", "\nfrom constants import LIMIT\nimport ", 1)
    )
    done = art_adapt(
        "--isolated", "--reward", "rewards:f", "app/agent.py", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    module = (folder / "agent_train.py").read_text()
    assert "from rewards import f as score\n" in module


def _imported_reward(root: Path) -> float:
    """Import the train module of the package, and call its reward."""
    code = "import app.inner.agent_train as module; print(module.score(0, 0))"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=root,
        env={**os.environ, "OPENAI_API_KEY": "k"},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    return float(ran.stdout)


def test_scenarios_of_a_dataset(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    options = ("--reward", "rewards:f", "--epochs", "1", "--scenarios", "data")
    folder = variant(tmp_path, *options)
    rows = datasets.Dataset.from_list([{"question": "a"}, {"question": "b"}])
    rows.save_to_disk(str(folder / "data"))
    with Engine(YES) as engine:
        assert len(episodes(train(folder, engine))) == 8


@pytest.mark.slow
def test_a_file_for_validation(tmp_path: Path) -> None:
    options = ("--reward", "rewards:f", "--epochs", "6", "--groups-per-step", "1")
    folder = variant(tmp_path, *options)
    (folder / "scenarios.jsonl").write_text('{"question": "train"}\n')
    (folder / "held.jsonl").write_text('{"question": "held out"}\n')
    with Engine(YES) as engine:
        said = train(folder, engine, "--validation", "held.jsonl")
        asked = [e.request["messages"][-1]["content"] for e in engine.log]
    assert len(said["steps"]) == 6
    # Two episodes before the first step and after every two.
    assert asked.count("held out") == 8 and asked.count("train") == 24


def test_both_rewards_together(tmp_path: Path) -> None:
    folder = variant(
        tmp_path, "--reward", "rewards:f", "--ruler-weight", "0.5", "--epochs", "1"
    )
    with Engine([judged(4), *ANSWERING]) as engine:
        said = train(folder, engine)
    first = said["steps"][0][0]
    assert sorted(e["metrics"]["ruler"] for e in first) == [0.25, 0.33, 0.5, 1.0]
    # The function's part is within 0 and 1.
    assert all(0 <= 2 * e["reward"] - e["metrics"]["ruler"] < 1 for e in first)


STATEFUL = """\
from openai import OpenAI

client = OpenAI()
messages: list[dict[str, str]] = []  # every episode's, in one process


def run_agent(question: str) -> str:
    messages.append({"role": "user", "content": question})
    response = client.chat.completions.create(model="gpt-4o-mini", messages=messages)
    messages.append({"role": "assistant", "content": "said"})
    return response.choices[0].message.content
"""


@pytest.mark.slow
def test_each_episode_in_a_process_of_its_own(tmp_path: Path) -> None:
    """Module-level state of one episode is not there in the next one."""
    (tmp_path / "agent.py").write_text(STATEFUL)
    (tmp_path / "rewards.py").write_text(VARYING)
    (tmp_path / "scenarios.jsonl").write_text('{"question": "a"}\n')
    asked = ("--reward", "rewards:f", "--epochs", "1", "--rollouts-per-group", "2")
    done = art_adapt("--isolated", *asked, "agent.py", cwd=tmp_path)
    assert done.returncode == 0
    docstring = (tmp_path / "agent_train.py").read_text().split('"""')[1]
    assert "--isolate process" in docstring and "messages" in docstring
    asked = (*asked, "--isolate", "process", "--force")
    assert art_adapt("--isolated", *asked, "agent.py", cwd=tmp_path).returncode == 0
    with Engine(YES) as engine:
        said = train(tmp_path, engine)
        lengths = [len(exchange.request["messages"]) for exchange in engine.log]
    assert "raised" not in said and "stopped" not in said, said
    assert [e["final_answer"] for e in episodes(said)] == ["yes", "yes"]
    assert lengths == [1, 1]


@pytest.mark.parametrize(
    ("agent", "others"),
    [
        ("shop/agent.py", ()),
        ("shop/agent.py", ("shop/requirements.txt",)),
        ("shop/bots/agent.py", ("shop/bots/__init__.py", "shop/bots/rows.csv")),
        (
            "shop/src/bots/agent.py",
            ("shop/pyproject.toml", "shop/src/bots/__init__.py"),
        ),
        ("shop/scripts/agent.py", ("shop/pyproject.toml",)),
    ],
)
def test_what_an_episode_copies_is_the_project(
    agent: str, others: tuple[str, ...], tmp_path: Path
) -> None:
    """A folder above it would give each episode a copy of what else you have."""
    for name in others:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    file = tmp_path / agent
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes((copy_of("support_loop", tmp_path) / "agent.py").read_bytes())
    done = art_adapt("--isolated", "--isolate", "copy", file.name, cwd=file.parent)
    assert done.returncode == 0, done.stderr.decode()
    module = file.with_name("agent_train.py")
    [folder] = re.findall("(?m)^FOLDER = (.*?)  #", module.read_text())
    found = eval(folder, {"Path": Path, "__file__": f"{module}"})
    assert found == tmp_path / "shop"


def test_ctrl_c_finishes_the_step(tmp_path: Path) -> None:
    folder = variant(tmp_path, "--reward", "rewards:f", "--epochs", "0")
    with Engine(YES) as engine:
        said = train(folder, engine, CTRL_C_AT_STEP="3")
    assert len(said["steps"]) == 3 and said["closed"] == 1
    assert "raised" not in said and "Finishing this step" in said["output"]
    assert "Trained: agent-001:step3" in said["output"]


@pytest.mark.slow
def test_a_page_of_episodes(tmp_path: Path) -> None:
    folder = variant(tmp_path, "--reward", "rewards:f", "--epochs", "1")
    (folder / "scenarios.jsonl").write_text('{"question": "a < b?"}\n')
    with Engine(YES) as engine:
        train(folder, engine, "--show-trajectories", "2")
    page = (folder / "agent-001-train-step1.html").read_text()
    assert page.count(": reward 0.") == 4  # two best, two worst, no other
    assert "a &lt; b?" in page and "http" not in page


@pytest.mark.slow
def test_an_episode_that_the_endpoint_failed_is_tried_again(tmp_path: Path) -> None:
    """G8: three failures of one request are more than the SDK's own retries bear."""
    options = ("--reward", "rewards:f", "--epochs", "1", "--rollouts-per-group", "2")
    folder = variant(tmp_path, *options)
    (folder / "scenarios.jsonl").write_text('{"question": "a"}\n')
    with Engine([{"error": 500}] * 3) as engine:
        engine.script.default = {"content": "yes"}
        said = train(folder, engine)
    assert len(episodes(said)) == 2 and "lost" not in said["output"]


def test_training_samples_at_one(tmp_path: Path) -> None:
    """Whatever the agent asks for: ART's logprobs are those of temperature 1."""
    folder = variant(tmp_path, "--reward", "rewards:f", "--epochs", "1")
    agent = folder / "agent.py"
    agent.write_text(
        agent.read_text().replace("tools=", "seed=1, temperature=0, tools=")
    )
    with Engine(YES) as engine:
        train(folder, engine)
        requests = [json.loads(exchange.body) for exchange in engine.log]
    assert all(r["temperature"] == 1.0 and "seed" not in r for r in requests)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--ruler-weight", "0.5"), "--ruler-weight needs --reward"),
        (("--reward", "r:f", "--ruler-weight", "2"), "between 0 and 1"),
        (("--trace", "print"), "no such tracer"),
        (("--isolate", "thread"), "no such way to isolate episodes"),
        (("--isolate", "thread"), "use process, copy or none"),
        (("--pipeline", "--backend", "serverless"), "leave out one of the two"),
    ],
)
def test_what_cannot_be_asked(
    options: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    folder = copy_of("support_loop", tmp_path)
    done = art_adapt("--isolated", *options, "agent.py", cwd=folder)
    assert done.returncode == 2 and message in done.stderr.decode()
    assert not (folder / "agent_train.py").exists()
