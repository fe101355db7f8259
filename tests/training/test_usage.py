"""The command that a run prints at its end serves what was trained, as it was trained."""

from __future__ import annotations

import shlex
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import pytest

from art_adapt import training


@pytest.mark.parametrize(
    ("name", "command"),
    [(None, "python 'my agent_train.py'"), ("a.b_train", "python -m a.b_train")],
)
def test_the_next_command_names_the_module_that_runs(
    name: str | None,
    command: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = None if name is None else ModuleSpec(name, None)
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", spec)
    monkeypatch.setattr(sys, "argv", ["my agent_train.py"])
    model: Any = training.make_model("run", "tests", "a/model", {})
    model.base_path = str(tmp_path)
    (tmp_path / "tests/models/run/checkpoints/0001").mkdir(parents=True)
    training.print_usage(model, {})
    assert f"{command} evaluate --endpoint" in capsys.readouterr().out


def test_the_command_has_what_the_run_had(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {
        "lora_config": {"rank": 32},
        "engine_args": {
            "gpu_memory_utilization": 0.8,
            "tensor_parallel_size": 2,
            "enable_prefix_caching": False,
        },
        "server_args": {"tool_call_parser": "llama3_json", "reasoning_parser": "x"},
        "chat_template_kwargs": {"enable_thinking": False},
    }
    model: Any = training.make_model("run", "tests", "a/model", options)
    model.base_path = str(tmp_path)
    for step in (3, 12):
        (tmp_path / f"tests/models/run/checkpoints/{step:04d}").mkdir(parents=True)
    training.print_usage(model, options)
    said = capsys.readouterr().out
    assert "Trained: run@12 (the latest, because nothing was validated)" in said
    command = said[said.index("vllm serve") : said.index("  OpenAI(")]
    words = shlex.split(command.replace("\\\n", ""))
    assert words[:4] == ["vllm", "serve", "a/model", "--enable-lora"]
    for flag, value in {
        "--max-model-len": "32768",
        "--max-lora-rank": "32",
        "--tensor-parallel-size": "2",
        "--tool-call-parser": "llama3_json",
        "--reasoning-parser": "x",
        "--default-chat-template-kwargs": '{"enable_thinking": false}',
        "--lora-modules": f"run@12={tmp_path}/tests/models/run/checkpoints/0012",
    }.items():
        assert words[words.index(flag) + 1] == value
    assert "--no-enable-prefix-caching" in words
    assert not any("memory" in word or "sleep" in word for word in words)
