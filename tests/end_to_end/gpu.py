"""Train a fixture's agent on a real GPU, as a user would, and print what was seen.

``prepare FOLDER`` needs no GPU: it adapts the agent, and makes a base model that plays the
agent's part, as ``rehearse --engine`` does. On the machine with the GPU, ``train FOLDER`` runs the
generated train module with ART's own LocalBackend: Unsloth, vLLM with sleep mode, a LoRA that is
swapped in. Run it again with more ``--steps`` to resume. ``serve FOLDER`` runs the ``vllm serve``
command that the run has printed. ``resize FOLDER --size qwen3-14b`` gives the base model the shape
of a real one first. FOLDER has the same path on both machines.

docs/gpu.md keeps the last result.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

from art_adapt.rehearsal.engine.families import family_of  # noqa: E402
from art_adapt.rehearsal.protocol import (  # noqa: E402
    TinyModelSettings,
    from_json,
    to_json,
)

AGENT = "support_loop"
# More tool calls, more reward: what a few steps can learn, and what tells that they did.
REWARD = """\
def f(trajectory: object, scenario: object) -> float:
    calls = str(trajectory.messages()).count("'tool_calls': [{")
    return min(calls, 4) / 4
"""
# The KV cache of a model of two layers has millions of blocks on a large GPU, unless it is told.
FEW_BLOCKS = {"engine_args": {"num_gpu_blocks_override": 8192}}
# What a user would set for so small a model and so short a run.
RUN = """\
import agent_train

if __name__ == "__main__":  # ART's processes import this module again
    agent_train.TRAIN["learning_rate"] = {rate}
    agent_train.ROLLOUTS_PER_GROUP = 8
    agent_train.MODEL.update({model})
    agent_train.main()
"""
# Shapes of real models, with weights that keep the grammar audible through all layers.
SIZES: dict[str, dict[str, float]] = {
    "qwen3-14b": {
        "vocab_size": 151_936,
        "hidden_size": 5120,
        "intermediate_size": 17_408,
        "num_hidden_layers": 40,
        "num_attention_heads": 40,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "initializer_range": 0.002,
    },
    "qwen3-4b": {
        "vocab_size": 151_936,
        "hidden_size": 2560,
        "intermediate_size": 9728,
        "num_hidden_layers": 36,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "initializer_range": 0.002,
    },
}


def prepare(folder: Path) -> None:
    """Adapt the agent, and note what its base model must be able to say."""
    from agent_files import agent_file, copy_of

    from art_adapt.code.syntax import Syntax
    from art_adapt.rehearsal.child_process import run_child
    from art_adapt.rehearsal.run import training_settings
    from art_adapt.rehearsal.scripted_model import ScriptedModel
    from art_adapt.rehearsal.seen import Seen
    from art_adapt.source import read_source

    project = copy_of(AGENT, folder)
    (project / "rewards.py").write_text(REWARD)
    options = ["--isolated", "--reward", "rewards:f"]
    options += ["--base-model", str(folder / "base")]
    subprocess.run(
        [sys.executable, "-m", "art_adapt", *options, agent_file(project).name],
        cwd=project,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    module = project / "agent_train.py"
    with ScriptedModel(0, ()) as model, tempfile.TemporaryDirectory() as notes:
        child = run_child(module, model.url, 2, Path(notes))
        seen = Seen(
            module, Syntax.of(read_source(module)), child.notes, tuple(model.log)
        )
    settings = training_settings(seen, (), 0)
    (folder / "settings.json").write_text(to_json(settings))
    make_base(folder, {})


def make_base(folder: Path, sizes: dict[str, float]) -> None:
    """Make the base model; one of a real shape is made on the GPU, in seconds."""
    import torch

    from art_adapt.rehearsal.engine.base_model import TINY, make_base_model

    settings = from_json(TinyModelSettings, (folder / "settings.json").read_text())
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda" if sizes else "cpu"):
        make_base_model(settings, family_of(""), "", folder / "base", {**TINY, **sizes})


@contextmanager
def memory_seen(into: list[tuple[float, int]]) -> Iterator[None]:
    """Note the MiB that the GPU's processes hold, twice a second."""
    ended = threading.Event()
    ask = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]

    def look() -> None:
        while not ended.wait(0.5):
            said = subprocess.run(ask, capture_output=True, text=True, check=False)
            if said.stdout.strip().isdigit():
                into.append((time.time(), int(said.stdout)))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def run(
    folder: Path, steps: int, rate: float, model: dict[str, Any], log: Path
) -> None:
    """Run the train module until it has made ``steps`` steps in all.

    ``log`` gets what it printed; beside it the seconds of each line, and the memory.
    """
    project = folder / AGENT
    (project / "run.py").write_text(RUN.format(rate=rate, model=model))
    begun, memory = time.time(), list[tuple[float, int]]()
    with memory_seen(memory):
        process = subprocess.Popen(
            [sys.executable, "run.py", "--max-steps", str(steps)],
            cwd=project,
            env={**os.environ, "OPENAI_API_KEY": "unused"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert process.stdout is not None
        with log.open("a") as out, log.with_suffix(".timed").open("a") as timed:
            for line in process.stdout:
                out.write(line)
                timed.write(f"{time.time() - begun:7.1f} {line}")
                timed.flush()
        process.wait()
    with log.with_suffix(".memory").open("a") as out:
        out.writelines(f"{at - begun:.1f} {used}\n" for at, used in memory)
    print(
        f"run to step {steps}: exit {process.returncode}, {time.time() - begun:.0f} s"
    )
    print(f"most GPU memory: {max((used for _, used in memory), default=0)} MiB")


def metrics(folder: Path) -> Iterator[str]:
    """Yield the rows that ART has logged; there are none before the first step."""
    for file in (folder / AGENT).rglob("history.jsonl"):
        yield from file.read_text().splitlines()


def serve(printed: str, python: Path) -> None:
    """Run the printed command with the vLLM of another environment, and ask for one turn."""
    from art_adapt.rehearsal.engine.run import served_as_printed
    from art_adapt.rehearsal.engine.server import find_vllm

    with tempfile.TemporaryDirectory() as logs:
        command, refused = served_as_printed(
            find_vllm(python), printed, Path(logs), lambda _: None
        )
    if not command:
        sys.exit("no run has printed a `vllm serve` command there")
    print(command, refused or "it answers", sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=["prepare", "train", "resize", "serve"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", choices=SIZES)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--rate", type=float, default=0.0004)
    parser.add_argument("--model", type=json.loads, default=FEW_BLOCKS)
    parser.add_argument("--vllm", type=Path, help="the Python of its environment")
    parser.add_argument("--log", type=Path, default=Path("gpu.log"))
    given = parser.parse_args()
    if given.task == "prepare":
        prepare(given.folder)
    elif given.task == "resize":
        make_base(given.folder, SIZES[given.size])
    elif given.task == "train":
        run(given.folder, given.steps, given.rate, given.model, given.log)
        print(*metrics(given.folder), sep="\n")
    else:
        serve(given.log.read_text(), given.vllm)


if __name__ == "__main__":
    main()
