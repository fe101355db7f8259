"""Groups of episodes: sampled, and told apart by whether they can be learned from."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import art

from art_adapt.training.rewards import RewardError
from art_adapt.training.signs import refuse_unread_calls

if TYPE_CHECKING:  # it needs this module
    from art_adapt.training.judging import Judge

MOST_UNREWARDED = 0.2  # of the episodes of a step
UNJUDGED = "unjudged"  # the key of a group's metadata that says why RULER gave no score


def metadata_of(scenario: Any) -> dict[str, Any]:
    """Return what tells a scenario's group from others, in ART's files and in W&B.

    The id is the row's own ``scenario_id`` or ``id``; else a hash of the row.
    """
    row = scenario.model_dump(mode="json") if hasattr(scenario, "model_dump") else {}
    named = row.get("scenario_id", row.get("id"))
    if named is None:
        text = json.dumps(row or repr(scenario), sort_keys=True)
        named = hashlib.sha256(text.encode()).hexdigest()[:8]
    return {"scenario_id": str(named)}


async def sampled(
    what: str,
    rollout: Callable[[Any, Any], Awaitable[art.Trajectory]],
    scenarios: Iterable[tuple[str, Any]],
    models: Sequence[art.Model[Any]],
    rollouts: int,
    judge: Judge | None,
) -> list[art.TrajectoryGroup]:
    """Run each model on each scenario, several times; return the groups with rewards.

    ``what`` is shown beside the progress, ``scenarios`` come with their ids. A group
    has the episodes of all models on one scenario, and its judge compares them.
    """
    groups: Any = (
        art.TrajectoryGroup(
            (rollout(model, scenario) for model in models for _ in range(rollouts)),
            metadata={"scenario_id": scenario_id},
        )
        for scenario_id, scenario in scenarios
    )
    return usable(
        await art.gather_trajectory_groups(
            groups, pbar_desc=what, max_exceptions=math.inf, after_each=judge
        )
    )


def usable(groups: Sequence[art.TrajectoryGroup]) -> list[art.TrajectoryGroup]:
    """Return the groups that have episodes and rewards; print why others are left out.

    Raises:
        SystemExit: the reward function raised on more than ``MOST_UNREWARDED`` of the
            episodes, and on more than one. Without them the groups would show the model another task than the
            one it has. Or the engine leaves tool calls in the text.
    """
    refuse_unread_calls(groups)
    lost = [error for group in groups for error in group.exceptions]
    unrewarded = [error for error in lost if error.type == str(RewardError)]
    episodes = len(lost) + sum(len(group.trajectories) for group in groups)
    if len(unrewarded) > max(1, MOST_UNREWARDED * episodes):
        raise SystemExit(
            f"{unrewarded[0].message}\nNo reward for {len(unrewarded)} of {episodes} "
            f"episodes.\n\n{unrewarded[0].traceback}"
        )
    if lost:
        print(
            f"{len(lost)} episodes lost, the first with {lost[0].type}: {lost[0].message}"
        )
    reasons = [str(g.metadata[UNJUDGED]) for g in groups if UNJUDGED in g.metadata]
    if reasons:
        print(
            f"{len(reasons)} groups left out because they have no score: {reasons[0]}"
        )
    return [g for g in groups if g.trajectories and UNJUDGED not in g.metadata]


def why_unusable(groups: Sequence[art.TrajectoryGroup]) -> str:
    """Say in a line why none of the groups can be learned from."""
    for group in groups:
        if UNJUDGED in group.metadata:
            return str(group.metadata[UNJUDGED])
    lost = [error for group in groups for error in group.exceptions]
    return lost[0].message if lost else "ART returned no group"


@contextmanager
def costs_of(model: art.Model[Any], split: str) -> Iterator[None]:
    """Let ART count what is spent in this block, such as on RULER's judge.

    ART looks for the model's metrics in a context variable (0.5.18 and 0.5.23,
    rewards/ruler.py), and ``model.log`` writes the sum as ``costs/...``.
    """
    token = model.activate_metrics_context("train" if split == "train" else "eval")
    try:
        yield
    finally:
        token.var.reset(token)
