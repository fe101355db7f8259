"""Run the steps of the GitHub action, as a runner would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml
from agent_files import REPOSITORY

ACTION = yaml.safe_load((REPOSITORY / "action.yml").read_text())
BAD = "import art\n\nstart = art.types.Message(role='user', content='Hi')\n"


def checked(folder: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """Run the step that checks, with inputs or their defaults."""
    (step,) = (each for each in ACTION["runs"]["steps"] if each.get("name") == "Check")
    inputs = {name: each["default"] for name, each in ACTION["inputs"].items()} | given
    env: dict[str, Any] = {
        name: inputs[value.removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, value in step["env"].items()
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        cwd=folder,
        env={**os.environ, **env, "PATH": path},
        capture_output=True,
        text=True,
    )


def test_findings_become_annotations(tmp_path: Path) -> None:
    (tmp_path / "rollout.py").write_text(BAD)
    done = checked(tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith(
        "::warning title=ART522 unknown-art-name,file=rollout.py,line=3"
    )
    assert checked(tmp_path, arguments="--ignore ART522").returncode == 0


def test_code_scanning_gets_a_file(tmp_path: Path) -> None:
    (tmp_path / "rollout.py").write_text(BAD)
    assert checked(tmp_path, sarif="art.sarif").returncode == 0
    log = json.loads((tmp_path / "art.sarif").read_text())
    assert [each["ruleId"] for each in log["runs"][0]["results"]] == ["ART522"]
