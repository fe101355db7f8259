"""Does what a train module was run for in the place of training."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import art
import pydantic

from art_adapt.training.evaluation import evaluate
from art_adapt.training.judging import Judge
from art_adapt.training.probing import probe
from art_adapt.training.runs import Run, Task

S = TypeVar("S", bound=pydantic.BaseModel)


async def measure(
    run: Run[S],
    rollout: Callable[[Any, S], Awaitable[art.Trajectory]],
    judge: Judge | None = None,
) -> None:
    """Do what the command line asks for in the place of training: evaluate, or probe."""
    if run.task is Task.EVALUATE:
        await evaluate(run, rollout, judge)
    else:
        await probe(run, rollout, judge)
