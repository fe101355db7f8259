"""Compares models on the same scenarios: production, the base model, checkpoints."""

from __future__ import annotations

import json
import statistics
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import art
import litellm
import pydantic

from art_adapt.comparison import Result, table
from art_adapt.training.endpoints import models_of
from art_adapt.training.episode_files import write_page
from art_adapt.training.groups import metadata_of, sampled
from art_adapt.training.judging import Judge
from art_adapt.training.runs import Run

S = TypeVar("S", bound=pydantic.BaseModel)


async def evaluate(
    run: Run[S],
    rollout: Callable[[Any, S], Awaitable[art.Trajectory]],
    judge: Judge | None = None,
) -> list[Result]:
    """Run each model on the same scenarios, and print and write how they compare.

    Writes ``RUN-evaluation.json`` and, with every episode, ``RUN-evaluation.html``.
    """
    results, groups = await compared(run, rollout, judge)
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


async def compared(
    run: Run[S],
    rollout: Callable[[Any, S], Awaitable[art.Trajectory]],
    judge: Judge | None = None,
) -> tuple[list[Result], list[art.TrajectoryGroup]]:
    """Run each model on the same scenarios; return what each has done, and the episodes.

    The models are the production model, through the agent's own client and as the agent
    asks it, and those that an OpenAI-compatible endpoint serves (``--endpoint``): all of
    them, or those that are named with ``--model``. Scenarios are those held out, else all.
    A judge compares the episodes of all models on one scenario without knowing whose
    they are.
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
    named = _named(scenarios).items()
    groups = await sampled("evaluate", rollout, named, models, size, judge)
    each = len(scenarios) * size
    return [_result(model.name, groups, each) for model in models], groups


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
