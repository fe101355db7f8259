"""What a run on a real engine has shown, and what would go wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from art_adapt.rehearsal.learning import not_resumed
from art_adapt.rehearsal.parts import TRAINS, calls
from art_adapt.rehearsal.seen import Finding, Seen


@dataclass(frozen=True)
class EngineRun:
    """The results of a run on a real engine.

    Attributes:
        vllm: its version.
        parser: its parser of tool calls.
        own_tokenizer: whether the tokenizer and the template are the real base model's.
        started: seconds that it took to start.
        rewards: the mean of each step.
        episodes: that were recorded, those of validation included.
        tool_calls: that the engine's parser read.
        names: under which a policy was served, in order.
        tokens: that were trained on.
        agreed: those of them whose logprob is the same in the trainer as in the engine.
        apart: the largest difference between the two.
        stopped_at: the step at which the run ended.
        resumed_at: the step at which the next one began.
        resumed_same: whether it began with the same weights.
        served: the ``vllm serve`` command that the run printed at its end; "" if none.
        answered: whether the trained model, served by that command, answered a request.
        refused: why not.
    """

    vllm: str
    parser: str
    own_tokenizer: bool
    started: float
    rewards: tuple[float, ...]
    episodes: int
    tool_calls: int
    names: tuple[str, ...]
    tokens: int
    agreed: int
    apart: float
    stopped_at: int
    resumed_at: int
    resumed_same: bool
    served: str
    answered: bool
    refused: str = ""


def engine_findings(seen: Seen, run: EngineRun) -> Iterator[Finding]:
    """Report what would go wrong on a real engine."""
    if not run.tokens:
        yield seen.finding(
            "nothing trained",
            "no token was trained: the rewards of every group were equal, or nothing was recorded",
            "run again with --output to read what the module printed",
            TRAINS,
        )
    elif run.agreed < run.tokens:
        yield seen.finding(
            "tokens apart",
            f"the trainer and the engine disagree on {run.tokens - run.agreed} of "
            f"{run.tokens} trained tokens (logprobs up to {run.apart:.2g} apart): the "
            "trainer sees other prompts than the engine",
            "pass training.for_training(groups) to backend.train",
            TRAINS,
        )
    yield from not_resumed(seen, run.stopped_at, run.resumed_at, run.resumed_same)
    if run.served and not run.answered:
        yield seen.finding(
            "not served",
            f"the trained model did not answer when served with the printed command: {run.refused}",
            "run again with --output, and check the last command that the run prints",
            calls("print_usage"),
        )
