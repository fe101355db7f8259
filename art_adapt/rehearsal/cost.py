"""What a training step takes on a GPU, at least: from the tokens that a rehearsal counted, the
size that the base model's name says, and the GPU's data sheet.

A bound, no forecast. No engine reads weights faster than the memory gives them, and no
trainer computes faster than the peak; real steps take several times that. A GPU that is
too small or too slow by this count is so for certain.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from art_adapt.rehearsal.findings import Seen, given_choices, tokens_of

BYTES = 2  # of a weight, in bfloat16
# Operations for each weight and token: forward; forward, and back to a LoRA.
SAMPLE, TRAIN = 2, 4


@dataclass(frozen=True)
class Gpu:
    """From NVIDIA's data sheets; dense, without sparsity."""

    gigabytes: float
    terabytes_a_second: float
    teraflops: float  # bfloat16


GPUS = {
    "B200": Gpu(180, 8.0, 2250),
    "H200": Gpu(141, 4.8, 989),
    "H100": Gpu(80, 3.35, 989),
    "A100": Gpu(80, 2.04, 312),
    "L40S": Gpu(48, 0.864, 362),
    "L4": Gpu(24, 0.3, 121),
}


@dataclass(frozen=True)
class Cost:
    """Of one step on ``gpu``. Sizes in billions of weights and gigabytes; None: the base
    model's name does not say how large it is.
    """

    gpu: str
    base_model: str
    weights: float | None
    gigabytes: float | None  # of the weights alone
    episodes: float
    tokens: float  # of all episodes, each once
    reply_tokens: float  # of one completion
    sampling_seconds: float | None
    training_seconds: float | None
    dollars: float | None  # at the price that was given

    @property
    def fits(self) -> bool:
        return self.gigabytes is None or self.gigabytes <= GPUS[self.gpu].gigabytes


@dataclass(frozen=True)
class Asked:
    """What to reckon with: one of ``GPUS``; what an hour of it costs, in dollars; how many
    tokens a reply of the model has, if not as many words as the scripted ones.
    """

    gpu: str
    price: float | None = None
    reply_tokens: int | None = None


@dataclass(frozen=True)
class _Episode:
    tokens: int  # each once: to the end of its histories
    sampled: int
    turns: int


def cost_of_step(seen: Seen, asked: Asked) -> Cost:
    """Of a step as those that were rehearsed, of which there must be one."""
    sheet, name = GPUS[asked.gpu], str(seen.notes.get("base_model"))
    steps = [_episodes(seen, step, asked.reply_tokens) for step in seen.notes["steps"]]
    every = [episode for step in steps for episode in step]
    tokens = sum(episode.tokens for episode in every) / len(steps)
    turns = sum(episode.turns for episode in every)
    longest = sum(max((e.sampled for e in s), default=0) for s in steps) / len(steps)
    total, active = weights_of(name)
    sampling = training = None
    if active is not None:
        # The longest episode's tokens come one after the other, each from all weights.
        waiting = longest * active * BYTES / (sheet.terabytes_a_second * 1e3)
        sampling = waiting + SAMPLE * active * tokens / (sheet.teraflops * 1e3)
        training = TRAIN * active * tokens / (sheet.teraflops * 1e3)
    price = None if asked.price is None else asked.price / 3600
    return Cost(
        gpu=asked.gpu,
        base_model=name,
        weights=total,
        gigabytes=None if total is None else total * BYTES,
        episodes=len(every) / len(steps),
        tokens=tokens,
        reply_tokens=sum(e.sampled for e in every) / max(1, turns),
        sampling_seconds=sampling,
        training_seconds=training,
        dollars=None
        if price is None or sampling is None or training is None
        else (sampling + training) * price,
    )


def _episodes(seen: Seen, step: Any, reply_tokens: int | None) -> list[_Episode]:
    given = given_choices(seen)
    found = []
    for trajectory in (t for group in step for t in group["trajectories"]):
        tokens, scripted, turns = tokens_of(given, trajectory)
        sampled = scripted if reply_tokens is None else turns * reply_tokens
        found.append(_Episode(tokens - scripted + sampled, sampled, turns))
    return found


def weights_of(base_model: str) -> tuple[float | None, float | None]:
    """How many billions of weights the name says, and how many work on one token:
    30 and 3 for ``Qwen3-30B-A3B``.
    """
    found = re.search(
        r"(?<![\w.])(\d+(?:\.\d+)?)B(?:-A(\d+(?:\.\d+)?)B)?(?![a-z])",
        base_model,
        re.IGNORECASE,
    )
    if found is None:
        return None, None
    total = float(found[1])
    return total, float(found[2] or total)
