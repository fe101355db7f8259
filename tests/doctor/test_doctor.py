"""``art-adapt doctor`` says before a GPU is paid for what would end a run on it."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from agent_files import art_adapt, copy_of, first_now

from art_adapt import training
from art_adapt.doctor import Setup, examine
from art_adapt.doctor.checks import backend, gpu, keys, machine, reward, scenarios
from art_adapt.errors import Refusal
from art_adapt.training.options import internal_options

# On 3.11 ART's local backend needs what nobody can install (models.REMEDY says it).
needs_local = pytest.mark.skipif(
    sys.version_info < (3, 12)
    or not all(map(importlib.util.find_spec, ("torch", "transformers"))),
    reason="ART's local backend cannot be imported here",
)
KEYS = {"OPENAI_API_KEY": "sk-very-secret", "WANDB_API_KEY": "wandb-very-secret"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = copy_of("support_loop", tmp_path)
    options = ("--isolated", "--reward", "rewards:score")
    (folder / "rewards.py").write_text(
        "def score(trajectory, scenario):\n"
        "    return float('yes' in (trajectory.final_answer or ''))\n"
    )
    assert art_adapt(*options, "agent.py", cwd=folder).returncode == 0
    return folder


def doctor(
    folder: Path, *options: str, **environment: str
) -> tuple[int, dict[str, dict[str, str]], str]:
    done = subprocess.run(
        [sys.executable, "-m", "art_adapt", "doctor", "agent_train.py", *options],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    assert "very-secret" not in said and "Traceback" not in said, said
    lines = done.stdout.splitlines() if "--json" in options else []
    found: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return done.returncode, {each["subject"]: each for each in found}, said


def gpus(folder: Path, *megabytes: int) -> str:
    """Put an ``nvidia-smi`` into a folder that shows GPUs of these sizes."""
    tools = folder / "tools"
    tools.mkdir()
    lines = "\\n".join(map(str, megabytes))
    (tools / "nvidia-smi").write_text(f'#!/bin/sh\nprintf "{lines}\\n"\n')
    (tools / "nvidia-smi").chmod(0o755)
    return str(tools)


def test_a_serverless_run_that_could_start(folder: Path) -> None:
    code, found, said = doctor(folder, "--json", "--backend", "serverless", **KEYS)
    assert code == 0, said
    states = {subject: each["state"] for subject, each in found.items()}
    assert set(states.values()) <= {"ok", "note"}
    assert "gpu" not in states and states["reward"] == "ok"
    assert "each of 8 episodes at most" in found["run"]["what"]


def test_as_it_is_shown(folder: Path) -> None:
    code, _, said = doctor(folder, COLUMNS="80", **KEYS)
    assert code == 1  # no GPU, and nothing that LocalBackend imports
    assert "FAILED  GPU        0 found, 1 needed" in said
    assert "the local backend cannot start: No module named" in said
    assert max(map(len, said.splitlines())) <= 80


@needs_local
def test_what_only_the_trainer_imports(folder: Path) -> None:
    """Unsloth patches transformers where it is imported, and raises without a GPU."""
    (folder / "unsloth.py").write_text("raise RuntimeError('built for another torch')")
    here = {"PYTHONPATH": str(folder)}
    _, found, said = doctor(folder, "--json", **KEYS, **here)
    assert found["backend"]["state"] == "ok", said
    here["PATH"] = f"{gpus(folder, 81559)}{os.pathsep}{os.environ['PATH']}"
    _, found, said = doctor(folder, "--json", **KEYS, **here)
    problem = "the trainer of the local backend cannot start: RuntimeError: built for another torch"
    assert found["backend"]["what"] == problem, said


@needs_local
def test_the_engine_runs_on_the_runner_that_art_has_patched(folder: Path) -> None:
    (folder / "unsloth.py").write_text("")
    asked = (
        "import os, sys\n"
        "from art_adapt.training.models import make_backend\n"
        "make_backend('local')\n"
        "print(os.environ['VLLM_USE_V2_MODEL_RUNNER'], 'unsloth' in sys.modules)"
    )
    for own, runs in ({}, "0"), ({"VLLM_USE_V2_MODEL_RUNNER": "1"}, "1"):
        done = subprocess.run(
            [sys.executable, "-c", asked],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder), **own},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.split()[-2:] == [runs, "False"], done.stderr


@pytest.mark.parametrize(
    ("sizes", "model", "engine", "states"),
    [
        ((81559,), "OpenPipe/Qwen3-14B-Instruct", {}, {"memory": "ok"}),
        ((24576,), "OpenPipe/Qwen3-14B-Instruct", {}, {"memory": "FAILED"}),
        (
            (81559,),
            "Qwen/Qwen3-30B-A3B-Instruct-2507",
            {"max_model_len": 262_144},
            {"memory": "FAILED"},
        ),
        ((81559,), "Qwen/Qwen3-30B-A3B-Instruct-2507", {}, {"memory": "ok"}),
        ((81559,), "my/model", {}, {"memory": "note"}),
        ((), "OpenPipe/Qwen3-14B-Instruct", {}, {"GPU": "FAILED"}),
    ],
)
def test_weights_and_context_against_memory(
    sizes: Any,
    model: str,
    engine: Any,
    states: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", gpus(tmp_path, *sizes), prepend=os.pathsep)
    setup = Setup(tmp_path, os, {"BASE_MODEL": model, "MODEL": {"engine_args": engine}})
    found = {each.subject: each.state for each in gpu.check(setup)}
    assert {subject: str(found[subject]) for subject in states} == states


class Scenario(training.Scenario):
    question: str
    limit: int = 1


def beside(folder: Path, module: Any) -> Any:
    module.__file__ = str(folder / "agent_train.py")
    module.SCENARIOS = "scenarios.jsonl"
    return module


def test_held_out_are_those_that_a_run_holds_out(tmp_path: Path) -> None:
    rows = "".join(json.dumps({"question": str(n)}) + "\n" for n in range(100))
    (tmp_path / "scenarios.jsonl").write_text(rows)
    module: Any = ModuleType("agent_train")
    module.Scenario = Scenario
    settings = {"VALIDATION_SCENARIOS": 5, "MAX_STEPS": 1, "EPOCHS": 1}
    settings |= {"GROUPS_PER_STEP": 1, "ROLLOUTS_PER_GROUP": 2}
    setup = Setup(tmp_path, beside(tmp_path, module), settings)
    found = {each.subject: each.what for each in scenarios.check(setup)}
    assert found["scenarios"] == "95 to train on, 5 held out"


def test_the_disk_is_the_one_that_models_are_loaded_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "not" / "there" / "yet"))
    setup = Setup(tmp_path, os, {"BASE_MODEL": "a/model-9000000B"})
    found = {each.subject: each for each in machine.check(setup)}
    assert found["disk"].state == "FAILED" and str(tmp_path) in found["disk"].what


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ('{"wrong": 1}\n', "scenarios.jsonl:1"),
        ("", "has no scenarios"),
        ('{"question": "a"}\n' * 2, "are duplicates"),
    ],
)
def test_scenarios_that_are_wrong(rows: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "scenarios.jsonl").write_text(rows)
    module: Any = ModuleType("agent_train")
    module.Scenario = Scenario
    settings = {"SCENARIOS": "scenarios.jsonl", "MAX_STEPS": 1, "EPOCHS": 1}
    settings |= {"GROUPS_PER_STEP": 1, "ROLLOUTS_PER_GROUP": 2}
    setup = Setup(tmp_path / "agent_train.py", beside(tmp_path, module), settings)
    found = {each.subject: each for each in scenarios.check(setup)}["scenarios"]
    assert found.state != "ok" and said in found.what and found.remedy


@pytest.mark.parametrize(
    ("score", "state"),
    [
        (lambda trajectory, scenario: len(trajectory.final_answer), "FAILED"),
        (lambda trajectory, scenario: len(trajectory.final_answer or ""), "ok"),
        # A further key of the row, and a number: what a reward compares with.
        (lambda trajectory, scenario: scenario.expected + scenario.limit, "ok"),
        (lambda trajectory, scenario: trajectory.metrics["tool_calls"], "ok"),
    ],
)
def test_the_reward_of_an_episode_without_an_answer(
    score: Any, state: str, tmp_path: Path
) -> None:
    row = {"question": "a", "limit": 3, "expected": 22}
    (tmp_path / "scenarios.jsonl").write_text(json.dumps(row))
    module: Any = ModuleType("agent_train")
    module.Scenario, module.score = Scenario, score
    (found,) = reward.check(Setup(tmp_path, beside(tmp_path, module), {}))
    assert found.state == state and "without an answer" in found.what


@pytest.mark.slow
def test_an_agent_that_cannot_be_imported(folder: Path) -> None:
    (folder / "agent.py").write_text("import no_such_package\n")
    code, found, _ = doctor(folder, "--json", **KEYS)
    assert code == 1 and found["module"]["state"] == "FAILED"
    assert "no_such_package" in found["module"]["what"]


@pytest.mark.slow
def test_keys_are_named(folder: Path) -> None:
    (folder / "agent.py").write_text(
        "import os\nfrom openai import OpenAI\nkey = os.getenv('SEARCH_API_KEY')\n"
        "client = OpenAI(api_key='k')\n\n\ndef run_agent(question):\n    pass\n"
    )
    code, _, said = doctor(folder, "--json", "--backend", "serverless")
    assert code == 1
    assert "WANDB_API_KEY is not set" in said and "export WANDB_API_KEY=" in said
    assert "SEARCH_API_KEY is not set, and the agent reads it" in said


def test_a_required_setting_is_named(folder: Path) -> None:
    (folder / "agent.py").write_text(
        "from pydantic_settings import BaseSettings\n\n\nclass Settings(BaseSettings):\n"
        "    bot_token: str\n    size: int = 3\n"
    )
    module = folder / "agent_train.py"
    told = keys.check(Setup(module, ModuleType("agent_train"), {"BACKEND": "local"}))
    assert [each.what for each in told] == [
        "BOT_TOKEN is not set, and the agent requires it"
    ]


@pytest.mark.parametrize(
    ("made", "needed"),
    [
        ("client = OpenAI()", True),
        ("def embed():\n    return AsyncOpenAI(timeout=9).embeddings", True),
        ("client = OpenAI(base_url='https://models.example/v1')", True),
        ("client = OpenAI(api_key='k')", False),
        ("client = OpenAI(**options)", False),
    ],
)
def test_the_key_that_a_client_of_the_agents_reads_is_named(
    made: str, needed: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "agent.py").write_text(
        f"from openai import AsyncOpenAI, OpenAI\noptions = {{}}\n{made}\n"
    )
    setup = Setup(folder / "agent_train.py", ModuleType("agent_train"), {})
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    unset = "OPENAI_API_KEY is not set, and the agent reads it"
    assert [each.what for each in keys.check(setup)] == [
        unset if needed else "none needed"
    ]
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    there = "OPENAI_API_KEY" if needed else "none needed"
    assert [each.what for each in keys.check(setup)] == [there]


@pytest.mark.parametrize(
    ("made", "lacks"),
    [
        ("AzureOpenAI()", ["API_KEY", "ENDPOINT", "VERSION"]),
        ("AzureOpenAI(api_version='2024-10-21')", ["API_KEY", "ENDPOINT"]),
        ("AzureOpenAI(azure_ad_token_provider=token)", ["ENDPOINT", "VERSION"]),
        ("AzureOpenAI(api_key=os.getenv('AZURE_OPENAI_API_KEY'), azure_endpoint='https://x', api_version='y')", ["API_KEY"]),
        ("AzureOpenAI(api_key='k', azure_endpoint='https://x', api_version='y')", []),
    ],
)  # fmt: skip
def test_what_a_client_on_azure_reads_is_named(
    made: str, lacks: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "agent.py").write_text(
        f"import os\nfrom openai import AzureOpenAI\ntoken = None\nclient = {made}\n"
    )
    for name in ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "OPENAI_API_VERSION"):
        monkeypatch.delenv(name, raising=False)
    told = keys.check(
        Setup(folder / "agent_train.py", ModuleType("agent_train"), {"JUDGE_MODEL": ""})
    )
    said = [each.what for each in told if "agent reads" in each.what]
    assert [any(end in what for what in said) for end in lacks] == [True] * len(lacks)
    assert len(said) == len(lacks), said


@pytest.mark.slow
def test_what_is_no_train_module(folder: Path) -> None:
    for name, reason in (
        ("no.py", "no such file"),
        ("rewards.py", "not a train module"),
    ):
        done = art_adapt("doctor", name, cwd=folder)
        assert done.returncode == 2 and reason in done.stderr.decode()


@pytest.mark.parametrize(
    "line",
    first_now(["openai.OpenAI()", "import nowhere", 'raise SystemExit("set KEY")']),
)
def test_it_goes_on_after_an_import_that_fails(folder: Path, line: str) -> None:
    agent = folder / "agent.py"
    agent.write_text(f"import openai\n\n{line}\n{agent.read_text()}")
    code, found, said = doctor(folder, "--json")
    assert code == 1 and found["module"]["state"] == "FAILED", said
    assert {"versions", "keys", "parser", "disk", "context"} <= found.keys()
    is_key = line == "openai.OpenAI()"
    assert ("reward" in found) == is_key and ("run" in found) == is_key


@pytest.mark.skipif(
    "vllm_runtime" not in internal_options(), reason="the newer ART has it"
)
def test_an_engine_of_ones_own_is_asked_whether_it_is_ready(tmp_path: Path) -> None:
    from http.server import BaseHTTPRequestHandler, HTTPServer
    from threading import Thread

    class Ready(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Ready) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        for port, state in ((server.server_port, "ok"), (9, "FAILED")):
            runtime = {"mode": "external", "server_url": f"http://127.0.0.1:{port}"}
            settings = {"BASE_MODEL": "a/model", "MODEL": {"vllm_runtime": runtime}}
            found = {e.subject: e for e in backend.check(Setup(tmp_path, os, settings))}
            assert str(found["engine"].state) == state
        server.shutdown()


def test_a_client_without_a_key_is_explained(folder: Path) -> None:
    agent = folder / "agent.py"
    agent.write_text(
        f"from openai import OpenAI\nclient = OpenAI()\n{agent.read_text()}"
    )
    code, found, _ = doctor(folder, "--json")
    assert code == 1
    assert "agent.py:2: the agent makes its client here" in found["module"]["what"]
    assert found["module"]["remedy"].startswith("set it; any text will do")


def test_another_file_is_told_its_own_train_modules_name(tmp_path: Path) -> None:
    (tmp_path / "chef.py").write_text("x = 1\n")
    with pytest.raises(Refusal) as refused:
        next(examine(tmp_path / "chef.py"))
    assert "such as chef_train.py" in (refused.value.next_step or "")
