"""Compute a lower bound for the time of a training step on a GPU.

It follows from the tokens that a rehearsal counted, the size in the base model's name, and
the GPU's data sheet. It is not a forecast: no engine reads weights faster than the memory
delivers them, and no trainer computes faster than the peak, but real steps take several
times as long.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from art_adapt.rehearsal.protocol import Group, Trajectory
from art_adapt.rehearsal.scripted_model import Exchange
from art_adapt.rehearsal.seen import Seen, given_choices

BYTES = 2  # of a weight, in bfloat16
# Operations for each weight and token: forward; forward, and back to a LoRA.
SAMPLE, TRAIN = 2, 4


@dataclass(frozen=True)
class Gpu:
    """A GPU's data sheet; its peak is the dense one, without sparsity."""

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
    """The least that one step costs on ``gpu``.

    ``weights`` is in billions. What depends on it is None where the base model's name does
    not tell its size. ``gpus`` is 2 for PipelineTrainer, which samples and trains at once.
    """

    gpu: str
    gpus: int
    base_model: str
    weights: float | None
    gigabytes: float | None  # of the weights alone
    episodes: float
    tokens: float  # of all episodes; a group's common start counts once
    reply_tokens: float  # of one completion
    sampling_seconds: float | None
    training_seconds: float | None
    price: float | None  # of one GPU for an hour, in dollars

    @property
    def fits(self) -> bool:
        return self.gigabytes is None or self.gigabytes <= GPUS[self.gpu].gigabytes

    @property
    def seconds(self) -> float | None:
        if self.sampling_seconds is None or self.training_seconds is None:
            return None
        both = (self.sampling_seconds, self.training_seconds)
        return max(both) if self.gpus > 1 else sum(both)

    @property
    def dollars(self) -> float | None:
        if self.seconds is None or self.price is None:
            return None
        return self.seconds * self.price / 3600 * self.gpus


@dataclass(frozen=True)
class Asked:
    """The assumptions of an estimate."""

    gpu: str  # one of ``GPUS``
    price: float | None = None  # of an hour, in dollars
    reply_tokens: int | None = None  # of one reply; None: as many as it has words


def cost_of_step(seen: Seen, asked: Asked) -> Cost:
    """Compute the cost of an average rehearsed step; there must be at least one."""
    sheet, name = GPUS[asked.gpu], seen.notes.base_model
    given = given_choices(seen)
    steps = [
        [_read(given, group, asked.reply_tokens) for group in step]
        for step in seen.notes.steps
    ]
    groups = [group for step in steps for group in step]
    tokens = sum(group.tokens for group in groups) / len(steps)
    longest = sum(max((g.longest for g in s), default=0) for s in steps) / len(steps)
    total, active = weights_of(name)
    sampling = training = None
    if active is not None:
        # A conversation's tokens come one after the other, each from all weights.
        waiting = longest * active * BYTES / (sheet.terabytes_a_second * 1e3)
        sampling = waiting + SAMPLE * active * tokens / (sheet.teraflops * 1e3)
        training = TRAIN * active * tokens / (sheet.teraflops * 1e3)
    return Cost(
        gpu=asked.gpu,
        gpus=2 if seen.notes.pipeline else 1,
        base_model=name,
        weights=total,
        gigabytes=None if total is None else total * BYTES,
        episodes=sum(group.episodes for group in groups) / len(steps),
        tokens=tokens,
        reply_tokens=sum(g.sampled for g in groups)
        / max(1, sum(g.replies for g in groups)),
        sampling_seconds=sampling,
        training_seconds=training,
        price=asked.price,
    )


@dataclass(frozen=True)
class _Group:
    """The token counts of one scenario's episodes."""

    episodes: int
    replies: int
    sampled: int
    longest: int  # sampled in one conversation
    tokens: int  # with the common start counted once


def _read(
    given: Mapping[int, Exchange], group: Group, reply_tokens: int | None
) -> _Group:
    replies = sampled = longest = tokens = begins = 0
    for trajectory in group.trajectories:
        for turns in _conversations(given, trajectory):
            if not turns:
                continue
            said = [
                count if reply_tokens is None else reply_tokens for _, count in turns
            ]
            earlier = sum(count for _, count in turns[:-1])
            begin, whole = turns[0][0], turns[-1][0] - earlier + sum(said)
            begins = max(begins, begin)
            tokens += max(0, whole - begin)
            replies += len(turns)
            sampled += sum(said)
            longest = max(longest, sum(said))
    count = len(group.trajectories)
    return _Group(count, replies, sampled, longest, begins + tokens)


def _conversations(
    given: Mapping[int, Exchange], trajectory: Trajectory
) -> list[list[tuple[int, int]]]:
    """Return the tokens of each completion's prompt and of its reply, for each history.

    ``given`` comes from ``given_choices``; the counts are the server's.
    """
    return [
        [
            (_prompt_tokens(given[choice.mark]), len(choice.ids))
            for item in history.items
            if (choice := item.choice) is not None and choice.mark in given
        ]
        for history in trajectory.histories
    ]


def _prompt_tokens(exchange: Exchange) -> int:
    count: int = (exchange.response or {})["usage"]["prompt_tokens"]
    return count


def weights_of(base_model: str) -> tuple[float | None, float | None]:
    """Read from a name how many billion weights a model has, and uses for one token.

    For ``Qwen3-30B-A3B`` that is 30 and 3. A name that tells no size, or weights that are
    smaller than ``BYTES``, gives None.
    """
    if re.search(
        r"gpt-oss|fp8|fp4|[48]-?bit|int[48]|awq|gptq|gguf|bnb", base_model, re.I
    ):
        return None, None
    found = re.search(
        r"(?<![\w.])(\d+(?:\.\d+)?)B(?:-A(\d+(?:\.\d+)?)B)?(?![a-z])",
        base_model,
        re.IGNORECASE,
    )
    if found is None:
        return None, None
    total = float(found[1])
    return total, float(found[2] or total)
