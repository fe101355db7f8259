"""What a run will take at most: steps, episodes, hours, money."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Settings that say how much is done, and not what: they may change in a run.
COUNTS = {
    "CONCURRENCY",
    "EPOCHS",
    "MAX_HOURS",
    "MAX_STEPS",
    "VALIDATION_ROLLOUTS",
    "VALIDATION_SCENARIOS",
    "VALIDATION_SHARE",
    "WORKERS",
}
FEW = 20  # validation scenarios: with fewer, most differences are noise


@dataclass(frozen=True)
class Plan:
    """The bounds of a run.

    Attributes:
        steps: that the model is trained at most, over all runs of this name.
        wanted: the steps that the epochs would take; None: without an end.
        episodes: of a step.
        validate_every: steps; None: never.
        validation_episodes: of one validation.
        hours: of this run; None: without a bound.
        price: of a GPU hour; None: not known.
        settings: the train module's constants.
    """

    steps: int
    wanted: int | None
    episodes: int
    validate_every: int | None
    validation_episodes: int
    hours: float | None
    price: float | None
    settings: Mapping[str, Any]


def make_plan(
    settings: Mapping[str, Any],
    scenarios: int,
    validation: int,
    *,
    price: float | None = None,
    cost: float | None = None,
) -> Plan:
    """Return the bounds that the constants of a train module set.

    Args:
        settings: the constants: ``MAX_STEPS``, ``MAX_HOURS``, ``EPOCHS``,
            ``ROLLOUTS_PER_GROUP``, ``GROUPS_PER_STEP``, ``VALIDATION_ROLLOUTS`` and
            ``VALIDATION_SHARE``.
        scenarios: how many there are to train on.
        validation: how many are held out.
        price: of a GPU hour.
        cost: of the run at most, at that price.
    """
    groups = settings["GROUPS_PER_STEP"]
    episodes = groups * settings["ROLLOUTS_PER_GROUP"]
    epochs = settings["EPOCHS"]
    wanted = math.ceil(scenarios / groups) * epochs if epochs else None
    validation_episodes = validation * settings.get("VALIDATION_ROLLOUTS", 1)
    # Of all episodes so many are for validation: v / (v + every * episodes) = share.
    share = settings.get("VALIDATION_SHARE", 0.2)
    every = None
    if validation:
        trained = validation_episodes * (1 - share) / share
        every = max(1, math.ceil(trained / episodes))
    hours = settings.get("MAX_HOURS")
    if cost is not None and price is not None:
        hours = min(hours or math.inf, cost / price)
    return Plan(
        min(settings["MAX_STEPS"], wanted or settings["MAX_STEPS"]),
        wanted,
        episodes,
        every,
        validation_episodes,
        hours,
        price,
        settings,
    )


def described(plan: Plan, validation: int) -> str:
    """Say what a run takes at most, and what it would take without its bounds."""
    of = "without an end" if plan.wanted is None else f"of {plan.wanted:,}"
    lines = [
        f"At most {plan.steps:,} steps ({of}: --max-steps) of {plan.episodes} episodes"
        f"{_each(plan.settings)}: {plan.steps * plan.episodes:,} episodes"
    ]
    if plan.validate_every is not None:
        times = math.ceil(plan.steps / plan.validate_every)
        lines[0] += f", and {times * plan.validation_episodes:,} to validate"
    lines[0] += "."
    if plan.hours is not None:
        money = "" if plan.price is None else f", ${plan.hours * plan.price:,.2f} a GPU"
        lines.append(
            f"It ends after the step that is under way at {plan.hours:g} h{money}."
        )
    if plan.validate_every is None:
        lines.append("No scenario is held out: no checkpoint can be called the best.")
    elif validation < FEW:
        lines.append(
            f"{validation} validation scenarios tell little: use {FEW} or more, for "
            "differences between checkpoints to be more than noise."
        )
    return "\n".join(lines)


def _each(settings: Mapping[str, Any]) -> str:
    limits = []
    if (seconds := settings.get("EPISODE_TIMEOUT")) is not None:
        limits.append(f"{seconds:g} s")
    if (tokens := settings.get("MAX_COMPLETION_TOKENS")) is not None:
        limits.append(f"{tokens:,} tokens a completion")
    return f" ({' and '.join(limits)} each, at most)" if limits else ""
