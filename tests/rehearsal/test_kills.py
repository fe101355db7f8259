"""A run that is killed goes on from its last whole checkpoint, with the same weights.

ART's LocalBackend, its packing, checkpoints and resuming are real; the model is tiny.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from test_learning import TOOL_LOOP, prepared

from art_adapt.code.syntax import Syntax
from art_adapt.rehearsal.child_process import run_child
from art_adapt.rehearsal.protocol import TinyModelSettings, to_json
from art_adapt.rehearsal.replies import read_rows
from art_adapt.rehearsal.run import training_settings
from art_adapt.rehearsal.scripted_model import ScriptedModel
from art_adapt.rehearsal.seen import Seen
from art_adapt.source import read_source

CHILD = Path(__file__).with_name("kill_child.py")
MODEL = ".art/agent/models/agent-001"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no torch"),
]


def settings_of(folder: Path, module: str) -> TinyModelSettings:
    file = folder / module
    with ScriptedModel(0, ()) as scripted:
        storage = folder / "first"
        storage.mkdir()
        notes = run_child(file, scripted.url, 1, storage).notes
        seen = Seen(file, Syntax.of(read_source(file)), notes, tuple(scripted.log))
        return training_settings(seen, read_rows(TOOL_LOOP[3]), 0)


def run(folder: Path, stage: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(CHILD), "settings.json", "agent_train", stage]
    return subprocess.run(
        [*command, "--max-steps", "4"],
        cwd=folder,
        env={**os.environ, "OPENAI_API_KEY": "sk-test", "WANDB_MODE": "disabled"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def weights_at(folder: Path, step: int, settings: TinyModelSettings) -> str:
    from art_adapt.rehearsal.tiny_model import TinyModel

    tiny = TinyModel(settings)
    tiny.load(folder / MODEL / "checkpoints" / f"{step:04d}" / "tiny.pt")
    return tiny.fingerprint()


@pytest.mark.parametrize(
    ("stage", "last", "whole"),
    [("step", 1, 1), ("save", 2, 1), ("validation", 0, 0)],
)
def test_a_killed_run_goes_on(
    stage: str, last: int, whole: int, tmp_path: Path
) -> None:
    folder, module = prepared(tmp_path, TOOL_LOOP)
    file = folder / module
    text = file.read_text().replace(
        "VALIDATION_ROLLOUTS = 2", "VALIDATION_ROLLOUTS = 1"
    )
    file.write_text(text)
    settings = settings_of(folder, module)
    (folder / "settings.json").write_text(to_json(settings))
    killed = run(folder, stage)
    assert killed.returncode == -9, killed.stdout + killed.stderr
    checkpoints = folder / MODEL / "checkpoints"
    assert max(int(path.name) for path in checkpoints.iterdir()) == last
    kept = weights_at(folder, whole, settings)

    again = run(folder, "never")
    assert again.returncode == 0, again.stdout + again.stderr
    began, ended = json.loads(again.stdout.splitlines()[-1])
    assert began == [whole, kept] and ended[0] == 4
    assert (checkpoints / "0002.partial").exists() == (stage == "save")
    assert ("incomplete" in again.stdout) == (stage == "save")
    rows = [
        json.loads(line)
        for line in (folder / MODEL / "history.jsonl").read_text().splitlines()
    ]
    validated = Counter(row["step"] for row in rows if "val/reward" in row)
    assert validated and set(validated.values()) == {1}  # none of them twice
