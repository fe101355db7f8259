"""Compares models on the same scenarios: production, the base model, checkpoints."""

from __future__ import annotations

import json
import math
import os
import random
import statistics
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
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
RESAMPLES = 2000
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Result:
    """What one model has done.

    Attributes:
        rewards: the mean reward of each scenario, by its id.
        answered, turns, seconds: means over its episodes.
        tokens: of an episode, as far as the endpoint tells; None: it does not.
        cost: dollars for a thousand episodes; None: the price is not known.
    """

    model: str
    rewards: dict[str, float]
    episodes: int
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
    rollouts: Any = (
        art.TrajectoryGroup(
            (rollout(model, scenario) for model in models for _ in range(size)),
            metadata=metadata_of(scenario),
        )
        for scenario in scenarios
    )
    sampled = await art.gather_trajectory_groups(
        rollouts,
        pbar_desc="evaluate",
        max_exceptions=count,
        after_each=blind(judge) if judge is not None else None,
    )
    groups = usable(sampled)
    results = [_result(model.name, groups) for model in models]
    said = described([result for result in results if result.episodes])
    print(f"\n{said}")
    path = Path(f"{run.name}-evaluation.html")
    every = [
        (str(t.metadata["policy"]), t) for group in groups for t in group.trajectories
    ]
    write_page(path, every, said)
    written = [result.__dict__ for result in results]
    path.with_suffix(".json").write_text(json.dumps(written, indent=1))
    print(f"every episode: {path}")
    return results


def blind(judge: Judge) -> Judge:
    """Let a judge see the episodes of a group in random order: judges prefer places."""

    async def shuffled(group: art.TrajectoryGroup) -> art.TrajectoryGroup:
        seed = str(group.metadata.get("scenario_id"))
        random.Random(seed).shuffle(group.trajectories)
        return await judge(group)

    return shuffled


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


def _result(model: str, groups: Sequence[art.TrajectoryGroup]) -> Result:
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
        mean("answered"),
        mean("turns"),
        mean("duration"),
        tokens or None,
        1000 * statistics.fmean(costs) if episodes and costs else None,
    )


def _cost(trajectory: art.Trajectory) -> float | None:
    """Return what an episode has cost at the price that LiteLLM knows."""
    asked = str(trajectory.metadata.get("asked", ""))
    try:
        prompt, answer = litellm.cost_per_token(
            model=asked,
            prompt_tokens=int(trajectory.metrics["tokens_in"]),
            completion_tokens=int(trajectory.metrics["tokens_out"]),
        )
    except Exception:  # a model that it does not know, or several
        return None
    return float(prompt + answer)


def described(results: Sequence[Result]) -> str:
    """Return the table of results, and how each compares with the first one."""
    if not results:
        return "No episode was left to compare."
    width = max(len(result.model) for result in results)
    lines = [f"{'':{width}}  reward          answered  turns  tokens   seconds  $/1000"]
    for each in results:
        values = list(each.rewards.values())
        low, high = _interval(values)
        tokens = "-" if each.tokens is None else f"{each.tokens:,.0f}"
        cost = "-" if each.cost is None else f"{each.cost:,.2f}"
        lines.append(
            f"{each.model:{width}}  {statistics.fmean(values):.3f} "
            f"+- {(high - low) / 2:.3f}  {each.answered:7.0%}  {each.turns:5.1f}  "
            f"{tokens:>7}  {each.seconds:7.1f}  {cost:>6}"
        )
    lines += [_compared(results[0], each) for each in results[1:]]
    return "\n".join(lines)


def _compared(first: Result, other: Result) -> str:
    """Say whether a model is better than the first one, scenario by scenario."""
    both = [name for name in other.rewards if name in first.rewards]
    gains = [other.rewards[name] - first.rewards[name] for name in both]
    if not gains:
        return f"{other.model} and {first.model} have no scenario in common"
    low, high = _interval(gains)
    wins, losses = sum(g > 0 for g in gains), sum(g < 0 for g in gains)
    verdict = (
        "better" if low > 0 else "worse" if high < 0 else "no difference beyond noise"
    )
    return (
        f"{other.model} against {first.model}: {statistics.fmean(gains):+.3f} "
        f"({low:+.3f} to {high:+.3f}), {wins} won, {losses} lost of {len(gains)} "
        f"scenarios: {verdict}"
    )


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % confidence interval of a mean, by bootstrap.

    Of a single value nothing is known: the interval has no end.
    """
    if len(values) < 2:
        return -math.inf, math.inf
    chosen = random.Random(0)
    means = sorted(
        statistics.fmean(chosen.choices(values, k=len(values)))
        for _ in range(RESAMPLES)
    )
    tail = round(RESAMPLES * (1 - CONFIDENCE) / 2)
    return means[tail], means[-tail - 1]
