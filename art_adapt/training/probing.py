"""Finds the scenarios that a model can learn from, before a run pays for the others."""

from __future__ import annotations

import json
import statistics
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import art
import pydantic

from art_adapt.json_lines import json_lines
from art_adapt.training.endpoints import model_of
from art_adapt.training.groups import metadata_of, sampled
from art_adapt.training.judging import Judge
from art_adapt.training.runs import Run

S = TypeVar("S", bound=pydantic.BaseModel)


async def probe(
    run: Run[S],
    rollout: Callable[[Any, S], Awaitable[art.Trajectory]],
    judge: Judge | None = None,
) -> None:
    """Run each training scenario several times on one model, and keep those that vary.

    A scenario whose episodes all get the same reward teaches nothing: it is too easy,
    or too hard for now. The others are written to ``RUN-scenarios.jsonl``. What has been
    measured is kept in ``RUN-probe.jsonl``, and is not paid for again.

    Raises:
        SystemExit: the endpoint serves several models, and none was chosen.
    """
    model = await model_of(run, "probe runs one model")
    kept = Path(f"{run.name}-probe.jsonl")
    known = _known(kept, model.name)
    new = [s for s in run.scenarios if _id(s) not in known]
    print(
        f"{len(new)} scenarios x {run.rollouts} rollouts on {model.name}; "
        f"{len(run.scenarios) - len(new)} were measured before, in {kept}"
    )
    named = [(_id(scenario), scenario) for scenario in new]
    groups = await sampled("probe", rollout, named, [model], run.rollouts, judge)
    with kept.open("a", encoding="utf-8") as file:
        for group in groups:
            scenario_id = str(group.metadata["scenario_id"])
            rewards = known[scenario_id] = [t.reward for t in group.trajectories]
            row = {"scenario_id": scenario_id, "model": model.name, "rewards": rewards}
            file.write(json.dumps(row) + "\n")
    _write(run, known)


def _write(run: Run[Any], known: dict[str, list[float]]) -> None:
    measured = [s for s in run.scenarios if len(known.get(_id(s), ())) > 1]
    teaching = [s for s in measured if len(set(known[_id(s)])) > 1]
    flat = [statistics.fmean(known[_id(s)]) for s in measured if s not in teaching]
    path = Path(f"{run.name}-scenarios.jsonl")
    lines = (s.model_dump_json() for s in teaching)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(
        f"{len(teaching)} of {len(measured)} scenarios have episodes with different "
        f"rewards; {_alike(flat)}\nTrain on those: --scenarios {path}"
    )


def _alike(means: Sequence[float]) -> str:
    if not means:
        return "none has equal rewards"
    return (
        f"{len(means)} have equal rewards, with means from {min(means):.2f} to "
        f"{max(means):.2f}: too hard or too easy"
    )


def _known(path: Path, model: str) -> dict[str, list[float]]:
    if not path.exists():
        return {}
    rows = (row for _, row in json_lines(path))
    return {r["scenario_id"]: r["rewards"] for r in rows if r["model"] == model}


def _id(scenario: Any) -> str:
    return str(metadata_of(scenario)["scenario_id"])
