"""A train module that a mistake ends before it reads its command line says what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from agent_files import adapted_copy_of


@pytest.mark.parametrize(
    "arguments", [[], pytest.param(["--help"], marks=pytest.mark.wide)]
)
def test_a_missing_key_is_one_message(tmp_path: Path, arguments: list[str]) -> None:
    folder = adapted_copy_of("support_loop", tmp_path)
    kept = {k: v for k, v in os.environ.items() if not k.startswith("OPENAI_")}
    done = subprocess.run(
        [sys.executable, "agent_train.py", *arguments],
        cwd=folder,
        env={**kept, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        capture_output=True,
        text=True,
        check=False,
    )
    if arguments:  # the help needs no key
        assert done.returncode == 0 and "usage: agent_train.py" in done.stdout
        return
    assert done.returncode == 1
    assert "agent.py:23: the agent makes its client here" in done.stderr
    assert "OPENAI_API_KEY is not set\n  next: set it" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.wide
@pytest.mark.parametrize("there", [False, True])
def test_a_module_of_a_package_says_how_it_starts(there: bool, tmp_path: Path) -> None:
    folder = adapted_copy_of("package_agent", tmp_path)
    (module,) = folder.rglob("*_train.py")
    cwd = module.parent if there else folder
    started = subprocess.run(
        [sys.executable, f"{module.relative_to(cwd)}", "--help"],
        cwd=cwd,
        env={**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert started.returncode == 1
    assert "Traceback" not in started.stderr
    (command,) = [line for line in started.stderr.splitlines() if "next: " in line]
    shell = command.removeprefix("  next: ").replace("python", sys.executable)
    done = subprocess.run(
        f"{shell} --help", shell=True, cwd=cwd, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert b"usage:" in done.stdout
