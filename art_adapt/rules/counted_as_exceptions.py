"""A metric is called exceptions, which the gather counts as failed rollouts

``gather_trajectory_groups`` adds up all metrics of all trajectories, and its own count of
failed rollouts under the name ``exceptions``. A metric of that name is added to it: the first
rollout that fails ends the gather, though ``max_exceptions`` allows more.

Give the metric another name, such as ``tool_errors``.

Evidence: art 0.5.18 and 0.5.23, gather.py (``record_metrics``, ``too_many_exceptions``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import entries
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART318", "counted-as-exceptions", Severity.WASTE)
NAME = "exceptions"
BAD = (
    """\
import art

async def rollout(model, scenario):
    trajectory = art.Trajectory(metrics={"exceptions": 0, "turns": 0})  # <-
    trajectory.metrics["exceptions"] += 1  # <-
    trajectory.metrics.update(exceptions=2)  # <-
    return trajectory
""",
)
GOOD = (
    """\
import art

async def rollout(model, scenario, stats):
    trajectory = art.Trajectory(metrics={"tool_errors": 0}, metadata={"exceptions": 0})
    trajectory.metrics["tool_errors"] += 1
    trajectory.metadata["exceptions"] = 1
    stats.metrics["exceptions"] = 1
    return trajectory
""",
)


def check(code: Code) -> Iterator[Found]:
    if NAME not in code.source.text:
        return
    for value in _written(code):
        yield found(
            value,
            "the gather counts this metric as failed rollouts, so the first failure ends it, "
            "though max_exceptions allows more: give the metric another name",
        )


def _written(code: Code) -> Iterator[ast.expr]:
    """Yield where trajectories get a metric of this name."""
    for call in code.trajectories.new:
        metrics = code.contents.given(call, "metrics")
        if metrics is not None and (value := entries(metrics).get(NAME)) is not None:
            yield value
    for node in code.syntax.nodes:
        match node:
            case (
                ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=key)) as at])
                | ast.AugAssign(
                    target=ast.Subscript(slice=ast.Constant(value=key)) as at
                )
            ) if key == NAME and code.trajectories.is_metrics(at.value):
                yield at
    for call, updated in code.method_calls("update"):
        if code.trajectories.is_metrics(updated):
            yield from (each.value for each in call.keywords if each.arg == NAME)
