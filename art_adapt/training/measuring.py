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
from art_adapt.training.warm_start import demonstrate

S = TypeVar("S", bound=pydantic.BaseModel)


async def measure(
    run: Run[S],
    rollout: Callable[[Any, S], Awaitable[art.Trajectory]],
    judge: Judge | None = None,
) -> None:
    """Do what the command line asks for in the place of training.

    Raises:
        SystemExit: it cannot be done, or the reward function raised.
    """
    tasks = {
        Task.EVALUATE: evaluate,
        Task.PROBE: probe,
        Task.DEMONSTRATE: demonstrate,
    }
    await tasks[run.task](run, rollout, judge)
