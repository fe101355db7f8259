"""Tells which groups of a step can be learned from, and why the others cannot."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import art

from art_adapt.training.rewards import RewardError

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


def usable(groups: Sequence[art.TrajectoryGroup]) -> list[art.TrajectoryGroup]:
    """Return the groups that have episodes and rewards; print why others are left out.

    Raises:
        SystemExit: the reward function raised. Without the episodes that it raises on,
            a group would show the model another task than the one it has.
    """
    lost = [error for group in groups for error in group.exceptions]
    for error in lost:
        if error.type == str(RewardError):
            raise SystemExit(f"{error.message}\n\n{error.traceback}")
    if lost:
        print(f"{len(lost)} episodes lost, one by {lost[0].type}: {lost[0].message}")
    reasons = [str(g.metadata[UNJUDGED]) for g in groups if UNJUDGED in g.metadata]
    if reasons:
        print(f"{len(reasons)} groups without a score, left out: {reasons[0]}")
    return [g for g in groups if g.trajectories and UNJUDGED not in g.metadata]


def why_unusable(groups: Sequence[art.TrajectoryGroup]) -> str:
    """Say in a line why none of the groups can be learned from."""
    for group in groups:
        if UNJUDGED in group.metadata:
            return str(group.metadata[UNJUDGED])
    lost = [error for group in groups for error in group.exceptions]
    return lost[0].message if lost else "ART gave no group"


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
