"""Puts the user's own reward on an episode."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from traceback import extract_tb, format_exception_only
from typing import Any, TypeVar

import art

from art_adapt.recording.state import judging
from art_adapt.training.threads import own_frame

T = TypeVar("T", bound=art.Trajectory)


class RewardError(Exception):
    """The reward function raised, or gave what is no reward: the episode is lost.

    ``error`` is what it raised, and ``path`` and ``line`` are where, if it is known. They are
    arguments so that they come from an episode's process as well.
    """

    def __init__(
        self, what: str, error: str = "", path: str = "", line: int = 0
    ) -> None:
        super().__init__(what, error, path, line)
        self.what, self.error, self.path, self.line = what, error, path, line

    def __str__(self) -> str:
        return self.what


async def scored(
    score: Callable[[Any, Any], Any], trajectory: T, scenario: object
) -> T:
    """Return the trajectory with the reward that ``score(trajectory, scenario)`` gives.

    ``score`` returns a number, or a dict of the parts whose sum is the reward: each
    becomes the metric ``reward_NAME``. It may be a coroutine function.

    Raises:
        RewardError: it raised, or a number is not finite: one such reward poisons its
            whole group. ``usable`` ends the run if that happens often: to drop the episodes
            on which a reward function fails selects the others.
    """
    try:
        with judging():
            given = score(trajectory, scenario)
            if inspect.isawaitable(given):
                given = await given
        if isinstance(given, Mapping) and given:
            parts = {str(name): float(part) for name, part in given.items()}
            trajectory.metrics |= {f"reward_{name}": p for name, p in parts.items()}
            reward = sum(parts.values())
        elif isinstance(given, str | bytes | Mapping):
            raise TypeError(f"{given!r} is not a number")
        else:
            reward = float(given)
    except Exception as error:
        what = f"the reward function failed: {error!r}"
        said = format_exception_only(error)[-1].strip()  # its own __str__ may raise
        frame = own_frame(extract_tb(error.__traceback__))
        if frame is None:
            raise RewardError(what, said) from error
        raise RewardError(what, said, frame.filename, frame.lineno or 0) from error
    if not math.isfinite(reward):
        raise RewardError(
            f"the reward is {reward}, which would spoil its whole group: return a finite number"
        )
    trajectory.reward = reward
    return trajectory
