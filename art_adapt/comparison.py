"""Compares what models have done on the same scenarios, beyond noise."""

from __future__ import annotations

import itertools
import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

MOST_EXACT = 12  # scenarios whose sign flips are all tried
FLIPS = 10_000  # of more
CONFIDENCE = 0.95
FEWEST = 6  # scenarios: of fewer, even if all are won, luck would explain it


@dataclass(frozen=True)
class Result:
    """What one model has done.

    Attributes:
        rewards: the mean reward of each scenario, by its id.
        lost: episodes that could not be recorded: they are in no mean.
        answered, turns, seconds: means over its episodes.
        tokens: of an episode, as far as the endpoint tells; None: it does not.
        cost: dollars for a thousand episodes; None: the price is not known.
    """

    model: str
    rewards: dict[str, float]
    episodes: int
    lost: int
    answered: float
    turns: float
    seconds: float
    tokens: float | None
    cost: float | None


def table(results: Sequence[Result]) -> str:
    """Return the table of results, and how each model compares with the first one."""
    width = max(len(result.model) for result in results)
    lines = [
        f"{'':{width}}  reward           lost  answered  turns  tokens  seconds  $/1000"
    ]
    for each in results:
        values = list(each.rewards.values())
        if not values:
            lines.append(f"{each.model:{width}}  all {each.lost} episodes were lost")
            continue
        tokens = "-" if each.tokens is None else f"{each.tokens:,.0f}"
        cost = "-" if each.cost is None else f"{each.cost:,.2f}"
        lines.append(
            f"{each.model:{width}}  {statistics.fmean(values):.3f} "
            f"+- {_margin(values):.3f}  {each.lost:5}  {each.answered:8.0%}  "
            f"{each.turns:5.1f}  {tokens:>6}  {each.seconds:7.1f}  {cost:>6}"
        )
    lines += [comparison(results[0], each) for each in results[1:]]
    return "\n".join(lines)


def comparison(first: Result, other: Result) -> str:
    """Say whether a model is better than the first one, scenario by scenario."""
    both = [name for name in other.rewards if name in first.rewards]
    gains = [other.rewards[name] - first.rewards[name] for name in both]
    if not gains:
        return f"{other.model} and {first.model} have no scenario in common"
    gain, chance = statistics.fmean(gains), _chance(gains)
    wins, losses = sum(g > 0 for g in gains), sum(g < 0 for g in gains)
    verdict = "no difference beyond noise"
    if len(gains) < FEWEST:
        verdict = "too few scenarios to tell"
    elif chance < 1 - CONFIDENCE:
        verdict = "better" if gain > 0 else "worse"
    return (
        f"{other.model} against {first.model}: {gain:+.3f} +- {_margin(gains):.3f}, "
        f"{wins} won, {losses} lost of {len(gains)} scenarios, p = {chance:.2f}: {verdict}"
    )


def _chance(gains: Sequence[float]) -> float:
    """Return how likely so large a mean gain is if both models are equally good.

    A sign-flip test: then each gain might as well have the other sign.
    """
    seen = abs(sum(gains)) - 1e-9
    if len(gains) <= MOST_EXACT:
        flips = list(itertools.product((1, -1), repeat=len(gains)))
    else:
        chosen = random.Random(0)
        flips = [tuple(chosen.choices((1, -1), k=len(gains))) for _ in range(FLIPS)]
    sums = (sum(s * g for s, g in zip(signs, gains, strict=True)) for signs in flips)
    return sum(abs(each) >= seen for each in sums) / len(flips)


def _margin(values: Sequence[float]) -> float:
    """Return half the 95 % confidence interval of a mean, by Student's t.

    Of fewer than three values nothing is known: it is infinite.
    """
    freedom = len(values) - 1
    if freedom < 2:
        return math.inf
    z = statistics.NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    # The quantile of t, by Cornish and Fisher: within 1 % from four values on.
    t = z + (z**3 + z) / (4 * freedom)
    t += (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    return t * statistics.stdev(values) / math.sqrt(len(values))
