"""Rewards: the user's own function, RULER's comparison, or both."""

from __future__ import annotations

import inspect
import math
from collections.abc import Awaitable, Callable
from typing import Any

import art
from art.rewards import ruler as art_ruler

AfterEach = Callable[[art.TrajectoryGroup], Awaitable[art.TrajectoryGroup | None]]


async def finite(value: Any) -> float:
    """Return what a reward function gave, awaited if it is a coroutine.

    Raises:
        ValueError: it is not finite: one such reward poisons its whole group.
    """
    if inspect.isawaitable(value):
        value = await value
    if not math.isfinite(value):
        raise ValueError(f"the reward is {value}: it would poison its whole group")
    return float(value)


def ruler(judge_model: str, weight: float | None = None, **options: Any) -> AfterEach:
    """Return the ``after_each`` that lets RULER compare the episodes of a group.

    With ``weight`` the reward is that share of RULER's score, and for the rest what it
    was before; RULER's score alone is the metric ``ruler``. A group that cannot be
    judged is left out, with the reason. ``options`` go to ART's ``ruler``, for example
    a ``rubric``.
    """

    async def judge(group: art.TrajectoryGroup) -> art.TrajectoryGroup | None:
        if not group.trajectories:
            return group
        # The low-level call: ruler_score_group rebuilds trajectories and drops their
        # answers (art 0.5.18 and 0.5.23, rewards/ruler.py).
        try:
            scores = await art_ruler(
                [trajectory.messages() for trajectory in group.trajectories],
                judge_model=judge_model,
                tools=group.trajectories[0].tools,
                **options,
            )
        except Exception as error:  # the judge's client is LiteLLM's choice
            print(f"RULER could not judge a group, it is left out: {error!r}")
            return None
        if len(scores) != len(group.trajectories):
            print("RULER gave too few scores: the group is left out")
            return None
        for trajectory, judged in zip(group.trajectories, scores, strict=True):
            if weight is None:
                trajectory.reward = judged.score
            else:
                trajectory.metrics["ruler"] = judged.score
                own = (1 - weight) * trajectory.reward
                trajectory.reward = own + weight * judged.score
            trajectory.log(f"RULER: {judged.explanation}")
        return group

    return judge
