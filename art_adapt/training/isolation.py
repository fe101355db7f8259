"""Runs each episode in a process of its own, for agents that keep state in modules."""

from __future__ import annotations

import asyncio
import functools
import multiprocessing
import pickle
from collections.abc import Awaitable, Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

import art

S = TypeVar("S")
R = TypeVar("R")
AsyncRollout = Callable[[Any, S], Awaitable[R]]


def isolated(
    at_once: int,
) -> Callable[[AsyncRollout[S, R]], AsyncRollout[S, R]]:
    """Decorate a train module's ``rollout`` so that a fresh process runs each episode.

    Each process imports ART and the agent anew, which takes seconds. ``rollout`` must
    be a function at the top of its module, its scenario and trajectory picklable.

    Args:
        at_once: how many processes run side by side.
    """

    def decorate(rollout: AsyncRollout[S, R]) -> AsyncRollout[S, R]:
        @functools.wraps(rollout)
        async def in_process(model: Any, scenario: S) -> R:
            there = functools.partial(_run_here, in_process, _address(model), scenario)
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(_pool(at_once), there)

        return in_process

    return decorate


def _address(model: Any) -> Any:
    """Return a model that is no more than the address of ``model``."""
    return art.Model(
        name=model.name,
        project=model.project,
        inference_base_url=model.inference_base_url,
        inference_api_key=model.inference_api_key,
        inference_model_name=model.get_inference_name(),
    )


def _run_here(decorated: Any, model: Any, scenario: Any) -> Any:
    """Run the episode; what it gives or raises can be sent to the other process."""
    try:
        trajectory = asyncio.run(decorated.__wrapped__(model, scenario))
    except Exception as error:
        if _can_be_sent(error):
            raise
        raise RuntimeError(repr(error)) from None
    if not _can_be_sent(trajectory):
        trajectory.final_answer = str(trajectory.final_answer)
    return trajectory


def _can_be_sent(value: Any) -> bool:
    try:
        pickle.loads(pickle.dumps(value))
    except Exception:
        return False
    return True


@functools.cache
def _pool(at_once: int) -> ProcessPoolExecutor:
    spawn = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(at_once, mp_context=spawn, max_tasks_per_child=1)
