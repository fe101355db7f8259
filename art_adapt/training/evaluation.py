"""Compares models on the same scenarios: production, the base model, checkpoints."""

from __future__ import annotations

import itertools
import json
import math
import os
import random
import statistics
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import art
import litellm
import openai
import pydantic

from art_adapt.training.episode_files import write_page
from art_adapt.training.groups import metadata_of, usable
from art_adapt.training.judging import Judge
from art_adapt.training.runs import Run

S = TypeVar("S", bound=pydantic.BaseModel)
PRODUCTION = "production"
MOST_EXACT = 12  # scenarios whose sign flips are all tried
FLIPS = 10_000  # of more
CONFIDENCE = 0.95


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


async def evaluate(
    run: Run[S],
    rollout: Callable[[Any, S], Awaitable[art.Trajectory]],
    judge: Judge | None = None,
) -> list[Result]:
    """Run each model on the same scenarios, and print and write how they compare.

    The models are the production model, through the agent's own client and as the agent
    asks it, and those that an OpenAI-compatible endpoint serves (``--endpoint``): all of
    them, or those that are named with ``--model``. Scenarios are those held out, else all.
    A judge compares the episodes of all models on one scenario without knowing whose
    they are.

    Writes ``RUN-evaluation.json`` and, with every episode, ``RUN-evaluation.html``.
    """
    models = await models_of(run)
    scenarios = run.validation or run.scenarios
    size = run.rollouts
    count = len(models) * len(scenarios) * size
    names = ", ".join(model.name for model in models)
    print(
        f"{len(scenarios)} scenarios x {size} rollouts x {len(models)} models: "
        f"{count} episodes\nmodels: {names}"
    )
    if not run.validation:
        print("No scenario is held out: a trained model has seen these.")
    rollouts: Any = (
        art.TrajectoryGroup(
            (rollout(model, scenario) for model in models for _ in range(size)),
            metadata={"scenario_id": scenario_id},
        )
        for scenario_id, scenario in _named(scenarios).items()
    )
    sampled = await art.gather_trajectory_groups(
        rollouts,
        pbar_desc="evaluate",
        max_exceptions=count,
        after_each=judge,
    )
    groups = usable(sampled)
    each = len(scenarios) * size
    results = [_result(model.name, groups, each) for model in models]
    said = table(results)
    print(f"\n{said}")
    path = Path(f"{run.name}-evaluation.html")
    written = [asdict(result) for result in results]
    path.with_suffix(".json").write_text(json.dumps(written, indent=1))
    every = [
        (str(t.metadata["policy"]), t) for group in groups for t in group.trajectories
    ]
    write_page(path, every, said)
    print(f"every episode: {path}")
    return results


def _named(scenarios: Sequence[S]) -> dict[str, S]:
    """Return the scenarios by their ids; those that share one are numbered."""
    named: dict[str, S] = {}
    for scenario in scenarios:
        scenario_id = name = str(metadata_of(scenario)["scenario_id"])
        number = 1
        while name in named:
            number += 1
            name = f"{scenario_id} ({number})"
        named[name] = scenario
    return named


async def models_of(run: Run[Any]) -> list[art.Model[Any]]:
    """Return the models to compare.

    Raises:
        SystemExit: there is none, or the endpoint cannot be asked which it serves.
    """
    models: list[art.Model[Any]] = []
    project = str(run.plan.settings["PROJECT"])
    if run.with_production:
        models.append(art.Model(name=PRODUCTION, project=project))
    if run.endpoint is not None:
        key = os.environ.get("ENDPOINT_API_KEY", "none")
        names = run.models or await _served(run.endpoint, key)
        models += [
            art.Model(
                name=name,
                project=project,
                inference_base_url=run.endpoint,
                inference_api_key=key,
                inference_model_name=name,
            )
            for name in names
        ]
    if not models:
        raise SystemExit("no model to evaluate: name an --endpoint")
    return models


async def _served(endpoint: str, key: str) -> list[str]:
    client = openai.AsyncOpenAI(base_url=endpoint, api_key=key)
    try:
        return [model.id async for model in client.models.list()]
    except openai.OpenAIError as error:
        raise SystemExit(
            f"{endpoint} does not say which models it serves: {error!r}. "
            "Name them, with --model"
        ) from error


def _result(model: str, groups: Sequence[art.TrajectoryGroup], wanted: int) -> Result:
    rewards = {}
    episodes: list[art.Trajectory] = []
    for group in groups:
        own = [t for t in group.trajectories if t.metadata["policy"] == model]
        if own:
            scenario = str(group.metadata["scenario_id"])
            rewards[scenario] = statistics.fmean(t.reward for t in own)
            episodes += own

    def mean(metric: str) -> float:
        values = [float(t.metrics.get(metric, 0)) for t in episodes]
        return statistics.fmean(values) if values else 0.0

    tokens = mean("tokens_in") + mean("tokens_out")
    costs = [cost for t in episodes if (cost := _cost(t)) is not None]
    return Result(
        model,
        rewards,
        len(episodes),
        wanted - len(episodes),
        mean("answered"),
        mean("turns"),
        mean("duration"),
        tokens or None,
        1000 * statistics.fmean(costs) if episodes and costs else None,
    )


def _cost(trajectory: art.Trajectory) -> float | None:
    """Return what an episode has cost at the price that LiteLLM knows."""
    asked = trajectory.metadata.get("asked")
    if not asked or not trajectory.metrics["tokens_in"]:
        return None
    try:
        prompt, answer = litellm.cost_per_token(
            model=str(asked),
            prompt_tokens=int(trajectory.metrics["tokens_in"]),
            completion_tokens=int(trajectory.metrics["tokens_out"]),
        )
    except Exception:  # a model that it does not know, or several
        return None
    return float(prompt + answer)


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
    lines += [_compared(results[0], each) for each in results[1:]]
    return "\n".join(lines)


def _compared(first: Result, other: Result) -> str:
    """Say whether a model is better than the first one, scenario by scenario."""
    both = [name for name in other.rewards if name in first.rewards]
    gains = [other.rewards[name] - first.rewards[name] for name in both]
    if not gains:
        return f"{other.model} and {first.model} have no scenario in common"
    gain, chance = statistics.fmean(gains), _chance(gains)
    wins, losses = sum(g > 0 for g in gains), sum(g < 0 for g in gains)
    verdict = "no difference beyond noise"
    if chance < 1 - CONFIDENCE:
        verdict = "better" if gain > 0 else "worse"
    return (
        f"{other.model} against {first.model}: {gain:+.3f} +- {_margin(gains):.3f}, "
        f"{wins} won, {losses} lost of {len(gains)} scenarios, p = {chance:.2f}: {verdict}"
    )


def _chance(gains: Sequence[float]) -> float:
    """Return how likely so large a mean gain is if both models are equally good.

    A sign-flip test: then each gain might as well have the other sign. Of five scenarios
    or fewer nothing can be shown at 95 %.
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
