"""What a run will take at most: steps, episodes, hours, money."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from art_adapt.printable import counted
from art_adapt.scenarios.rows import FEW
from art_adapt.settings import HIGHEST_RATE
from art_adapt.stops import Stop

# The settings that make a run what it is: what is changed later is said.
RECORDED = (
    "BASE_MODEL",
    "EPISODE_TIMEOUT",
    "GROUPS_PER_STEP",
    "JUDGE_MODEL",
    "MAX_COMPLETION_TOKENS",
    "MODEL",
    "ROLLOUTS_PER_GROUP",
    "RUBRIC",
    "RULER_WEIGHT",
    "SCENARIOS",
    "TEMPERATURE",
    "TRAIN",
)


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
        started: when they began, as ``time.monotonic`` counts.
        price: of a GPU hour; None: not known.
        settings: the train module's constants.
        held_out: what tells the validation scenarios from others.
        comparable: whether their rewards at different steps can be compared.
    """

    steps: int
    wanted: int | None
    episodes: int
    validate_every: int | None
    validation_episodes: int
    hours: float | None
    started: float
    price: float | None
    settings: Mapping[str, Any]
    held_out: str = ""
    comparable: bool = True

    @property
    def validates_first(self) -> bool:
        """True if a validation before the first step shows what training has to beat."""
        return self.comparable and self.validate_every is not None


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
    steps = _number(settings, "MAX_STEPS", 1)
    groups = _number(settings, "GROUPS_PER_STEP", 1)
    # The rollouts of a group are rewarded relative to each other; a step has each row once.
    episodes = min(groups, max(scenarios, 1)) * _number(
        settings, "ROLLOUTS_PER_GROUP", 2
    )
    _check_rate(settings)
    epochs = _number(settings, "EPOCHS", 0)
    wanted = math.ceil(scenarios / groups) * int(epochs) if epochs else None
    hours = _number(settings, "MAX_HOURS", 0, math.inf)
    if cost is not None and price is not None:
        if price <= 0:
            raise SystemExit("--gpu-price must be more than 0")
        hours = min(hours, cost / price / gpus_of(settings))
    validated = int(validation * _number(settings, "VALIDATION_ROLLOUTS", 0, 1))
    # Of all episodes so many are for validation: v / (v + every * episodes) = share.
    share = min(_number(settings, "VALIDATION_SHARE", 0, 0.2), 1.0)
    every = None
    if validated and share:
        every = max(1, math.ceil(validated * (1 - share) / share / episodes))
    return Plan(
        int(min(steps, wanted or steps)),
        wanted,
        int(episodes),
        every,
        validated,
        None if hours == math.inf else hours,
        time.monotonic(),
        price,
        settings,
    )


def _check_rate(settings: Mapping[str, Any]) -> None:
    """Refuse a learning rate that no LoRA bears.

    Raises:
        SystemExit: it is a thousand times that of ART (0.5.18, types.py: 5e-6) or more.
    """
    train = settings.get("TRAIN")
    rate = train.get("learning_rate") if isinstance(train, Mapping) else None
    if isinstance(rate, int | float) and rate > HIGHEST_RATE:
        raise Stop(
            f'TRAIN["learning_rate"] = {rate:g}: it must be {HIGHEST_RATE:g} or less, or the first '
            "steps destroy the model; ART's default is 5e-06",
            constant="TRAIN",
        )


def gpus_of(settings: Mapping[str, Any]) -> int:
    """Return how many GPUs a run takes, by the module's MODEL; one, unless it says more."""
    model = settings.get("MODEL")
    if not isinstance(model, Mapping):
        return 1
    of_both = [*model.get("trainer_gpu_ids", ()), *model.get("inference_gpu_ids", ())]
    return max(1, len({*of_both}))


def _number(
    settings: Mapping[str, Any], name: str, least: float, default: float | None = None
) -> float:
    """Return a constant that must be a number, or its default.

    Raises:
        SystemExit: it is missing, no number, or too small.
    """
    value = settings.get(name)
    value = default if value is None else value
    if isinstance(value, bool) or not isinstance(value, int | float) or value < least:
        what = f"{name} = {value!r}: it must be a number, {least:g} or more"
        raise Stop(what, constant=name)
    return value


def described(plan: Plan, validation: int) -> str:
    """Say what a run takes at most, and what it would take without its bounds."""
    steps = f"{plan.steps:,} step{'s' * (plan.steps != 1)}"
    if plan.wanted is None:
        steps = f"At most {steps} (--max-steps)"
    elif plan.wanted > plan.steps:
        steps = f"{steps} of {plan.wanted:,} (--max-steps)"
    lines = [
        f"{steps}, each of {plan.episodes} episodes at most: "
        f"{plan.steps * plan.episodes:,} episodes{_each(plan.settings)}"
    ]
    if plan.validation_episodes:
        # The last step is validated whatever the share.
        times = math.ceil(plan.steps / (plan.validate_every or plan.steps))
        times += plan.validates_first
        lines[0] += f", and {times * plan.validation_episodes:,} to validate"
    lines[0] += ". Steps without variance in any group are not counted."
    if plan.hours is not None:
        money = ""
        if plan.price is not None:
            gpus = gpus_of(plan.settings)
            of = "on one GPU" if gpus == 1 else f"on {gpus} GPUs"
            money = f", ${plan.hours * plan.price * gpus:,.2f} {of}"
        lines.append(
            f"The run ends after the step that is in progress at {plan.hours:g} h{money}."
        )
    if not plan.validation_episodes:
        lines.append(
            "No scenario is held out, so the run cannot tell which checkpoint is best."
        )
    elif validation < FEW:
        lines.append(
            f"With {counted(validation, 'validation scenario')}, differences between "
            f"checkpoints are mostly noise: use {FEW} or more."
        )
    return "\n".join(lines)


def _each(settings: Mapping[str, Any]) -> str:
    limits = []
    if (seconds := settings.get("EPISODE_TIMEOUT")) is not None:
        limits.append(f"{seconds:g} s")
    if (tokens := settings.get("MAX_COMPLETION_TOKENS")) is not None:
        limits.append(f"{tokens:,} tokens a completion")
    return f" ({' and '.join(limits)} each, at most)" if limits else ""
