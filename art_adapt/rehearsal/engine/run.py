"""Runs a train module on a real engine, twice, and serves what it has trained."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from art_adapt.errors import Refusal
from art_adapt.rehearsal.child_process import Child, Conditions, run_child
from art_adapt.rehearsal.engine.base_model import make_base_model
from art_adapt.rehearsal.engine.families import family_of
from art_adapt.rehearsal.engine.outcome import EngineRun
from art_adapt.rehearsal.engine.server import (
    MOST_RANK,
    ON_A_CPU,
    EngineError,
    Vllm,
    serving,
)
from art_adapt.rehearsal.learning import means, resumption, training_of
from art_adapt.rehearsal.protocol import (
    EngineSettings,
    Notes,
    TinyModelSettings,
)
from art_adapt.rehearsal.scripted_model import ScriptedModel
from art_adapt.rehearsal.seen import Seen

# What print_usage writes, line by line, the flags of the command among them.
SERVE = re.compile(r"^ *(vllm serve (?:.*\\\n)*.*)$", re.MULTILINE)
NAMED = re.compile(r"--lora-modules '?([^=\s']+)=")


def on_engine(
    seen: Seen,
    model: TinyModelSettings,
    vllm: Vllm,
    steps: int,
    folder: Path,
    conditions: Conditions,
) -> tuple[EngineRun, str]:
    """Train for ``steps`` steps on a real vLLM, go on for one more, and serve the result.

    Returns what was seen, and what the train module printed.

    Raises:
        Refusal: vLLM does not start, the train module raised, or it has a pipeline.
    """
    if seen.notes.pipeline:
        raise Refusal(
            "--engine cannot rehearse a pipeline",
            why="its episodes continue while weights are swapped, under the names of earlier "
            "steps, and vLLM on a CPU is too slow for both at once",
            next_step="rehearse it with --train",
            path=seen.path,
        )
    base = folder / "base"
    family = family_of(seen.notes.base_model)
    made = make_base_model(model, family, seen.notes.base_model, base)
    kept = folder / "trained"
    kept.mkdir()
    arguments = [
        *("serve", str(base), "--enable-lora", "--max-loras", "2"),
        *("--max-lora-rank", str(MOST_RANK), "--return-tokens-as-token-ids"),
        *("--enable-auto-tool-choice", "--tool-call-parser", family.parser),
        *ON_A_CPU,
    ]
    with serving(vllm, arguments, folder / "engine", conditions.tell) as engine:
        settings = EngineSettings(engine.url, str(base))

        def trained(steps: int) -> Child:
            with ScriptedModel(model.seed, (), runs=seen.runs) as others:
                return run_child(
                    seen.path,
                    others.url,
                    steps,
                    kept,
                    engine=settings,
                    conditions=conditions,
                )

        first = trained(steps)
        if first.notes.stopped is not None:
            raise Refusal(
                "the run on the engine ended before its last step",
                why=first.notes.stopped,
                next_step="run again with --output to see what it printed",
                path=seen.path,
            )
        again = trained(steps + 1)
    served, refused = served_as_printed(
        vllm, again.output, folder / "served", conditions.tell, ON_A_CPU
    )
    notes = first.notes
    training, resumed = training_of(notes), training_of(again.notes)
    result = EngineRun(
        vllm.version,
        family.parser,
        made.own,
        engine.seconds,
        means(training),
        len(notes.rollouts),
        _tool_calls(notes),
        (*notes.names, *again.notes.names),
        training.tokens + resumed.tokens,
        training.agreed + resumed.agreed,
        max(training.apart, resumed.apart),
        *resumption(notes, again.notes),
        served,
        bool(served) and not refused,
        refused,
    )
    return result, first.output + again.output


def _tool_calls(notes: Notes) -> int:
    return sum(
        len(item.message.get("tool_calls") or ())
        for rollout in notes.rollouts
        for item in rollout.trajectory.choices
    )


def served_as_printed(
    vllm: Vllm,
    output: str,
    folder: Path,
    tell: Callable[[str], None],
    further: Sequence[str] = (),
) -> tuple[str, str]:
    """Run the ``vllm serve`` command that a run has printed, and ask the trained model.

    ``further``: arguments that this machine needs. Returns the command, and why it gave no
    answer.
    """
    printed = SERVE.findall(output)
    if not printed:
        return "", ""
    command = re.sub(r"\\\n\s*", "", printed[-1])
    words = shlex.split(command)
    name = NAMED.search(command)
    if name is None:
        return command, "the command names no LoRA"
    asked = {"model": name[1], "messages": [{"role": "user", "content": "Hi"}]}
    try:
        with serving(vllm, [*words[1:], *further], folder, tell) as engine:
            answer = engine.ask("/v1/chat/completions", asked)
    except (Refusal, EngineError, OSError) as error:
        return command, str(error)
    return command, "" if answer["choices"] else f"it answered {answer}"
