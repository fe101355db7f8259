"""Seconds a step and tokens a second of a rehearsal's training, on a CPU and, where there is one,
on a GPU: ``python tests/benchmarks/training_step.py``.

The tool-loop fixture, its train module, ART's LocalBackend, and the tiny model: a figure for
ART's own part of a step, and no forecast of a large model's. Without a GPU that part says so
and is left out.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch
from agent_files import art_adapt, copy_of

from art_adapt.code.syntax import Syntax
from art_adapt.rehearsal.run import run_child, training_settings
from art_adapt.rehearsal.scripted_model import ScriptedModel
from art_adapt.rehearsal.seen import Seen
from art_adapt.source import read_source

STEPS = 10


def measure(device: str, folder: Path) -> str:
    agent = copy_of("support_loop", folder)
    done = art_adapt("--isolated", "agent.py", cwd=agent)
    assert done.returncode == 0, done.stderr
    module = agent / "agent_train.py"
    with ScriptedModel(0, ()) as model:
        child = run_child(module, model.url, 2, folder)
        seen = Seen(
            module, Syntax.of(read_source(module)), child.notes, tuple(model.log)
        )
    train = replace(training_settings(seen, (), 0), device=device)
    with ScriptedModel(0, (), train.turns[0].content) as others:
        begun = time.perf_counter()
        notes = run_child(module, others.url, STEPS, folder, train).notes
        whole = time.perf_counter() - begun
    training = notes.training
    if training is None or not training.seconds:
        return f"{device}: no step was trained"
    return (
        f"{device}: {STEPS} steps with their rollouts in {whole:.1f} s; the gradient step "
        f"{statistics.median(training.seconds):.3f} s, {training.read / sum(training.seconds):,.0f} tokens a second"
    )


def main() -> None:
    devices = ["cpu"]
    if torch.cuda.is_available():
        devices.append("cuda")
        print(torch.cuda.get_device_name())
    for device in devices:
        with tempfile.TemporaryDirectory() as folder:
            print(measure(device, Path(folder)))
    if len(devices) == 1:
        print("no GPU here: its part is skipped")


if __name__ == "__main__":
    main()
