"""Whether the reward function bears an episode without an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from art_adapt.doctor.finding import Finding, Setup, failed, note, ok
from art_adapt.reward_errors import remedy
from art_adapt.training.episodes import NOTHING_HAPPENED, Trajectory
from art_adapt.training.rewards import RewardError, scored


def check(setup: Setup) -> Iterator[Finding]:
    if (score := getattr(setup.module, "score", None)) is not None:
        yield _reward(setup, score)


def _reward(setup: Setup, score: Any) -> Finding:
    """Score an episode of the first scenario that ended before its answer."""
    try:
        scenario = next(iter(setup.scenarios()), None)
    except SystemExit:
        scenario = None
    if scenario is None:
        return note("reward", "not tried, because there is no scenario")
    trajectory = Trajectory(scenario=scenario, metrics={**NOTHING_HAPPENED})
    trajectory.messages_and_choices.append({"role": "user", "content": "?"})
    try:
        asyncio.run(scored(score, trajectory, scenario))
    except RewardError as error:
        return failed(
            "reward",
            f"scoring an episode without an answer failed: {error}",
            f"{remedy(error.error, _keys(scenario), score.__name__)}; an episode without a reward is "
            "lost, and the run ends if more than one in five are",
        )
    return ok("reward", f"an episode without an answer gets {trajectory.reward:g}")


def _keys(scenario: Any) -> list[str]:
    """Return what a scenario's row says: its fields, and further keys."""
    return list(scenario.model_dump()) if isinstance(scenario, BaseModel) else []
