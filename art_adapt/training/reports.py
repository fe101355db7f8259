"""Says how a run goes: what a step has to learn from, what validation has shown."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import art

from art_adapt.reward_signs import out_of_range
from art_adapt.training.histories import choices_of, histories_of
from art_adapt.training.signs import odd


def report(groups: Sequence[art.TrajectoryGroup]) -> None:
    """Print what a step has to learn from: a group of equal rewards teaches nothing."""
    rewards = _rewards(groups)
    flat = sum(len(set(of_group)) == 1 for of_group in rewards)
    every = [value for of_group in rewards for value in of_group]
    print(
        f"mean reward {statistics.fmean(every):.3f} of {len(every)} episodes, "
        f"{flat} of {len(groups)} groups without variance, "
        f"spread {statistics.pstdev(every):.3f}, {_sampled_tokens(groups)} tokens"
    )
    if flat == len(groups):
        print(
            "No group has variance, so this step teaches nothing. Try more "
            "ROLLOUTS_PER_GROUP, scenarios that are neither too easy nor too hard, or a "
            "finer reward."
        )
    if said := out_of_range(every):
        print(f"{said[0].upper()}{said[1:]}.")
    for line in odd(groups):
        print(line)


def report_validation(groups: Sequence[art.TrajectoryGroup], step: int) -> None:
    """Print the mean reward of held-out scenarios, with its standard error."""
    means = [statistics.fmean(of_group) for of_group in _rewards(groups)]
    if not means:
        print(f"step {step}: no validation episode has a score")
        return
    error = ""
    if len(means) > 1:
        error = f" +- {statistics.stdev(means) / math.sqrt(len(means)):.3f}"
    print(
        f"step {step}: mean reward {statistics.fmean(means):.3f}{error} "
        f"on {len(means)} validation scenarios"
    )


def _rewards(groups: Sequence[art.TrajectoryGroup]) -> list[list[float]]:
    return [[t.reward for t in group.trajectories] for group in groups]


def _sampled_tokens(groups: Sequence[art.TrajectoryGroup]) -> int:
    choices = (
        choice
        for group in groups
        for trajectory in group.trajectories
        for history in histories_of(trajectory)
        for choice in choices_of(history)
    )
    return sum(
        len(choice.logprobs.content or []) for choice in choices if choice.logprobs
    )
