"""A metric is not a number, so the episode counts as failed and model.log raises

ART averages metrics. Text, lists and None that are assigned after construction are not
validated: the episode is kept and also counted as an exception, and ``model.log`` raises. In
the constructor they raise at once.

Put numbers and booleans into ``metrics``, and text into ``metadata`` or ``logs``.

Evidence: art 0.5.18, gather.py (record_metrics), trajectories.py:282-290, model.py:950; art
0.5.23, gather.py:210.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.nodes import dotted, keyword

RULE = Rule("ART306", "metric-not-number", Severity.WASTE)
BAD = (
    """\
import art

async def rollout(model, scenario):
    trajectory = art.Trajectory(metrics={"task": "maths"})  # <-
    trajectory.metrics["answer"] = f"{scenario.answer}"  # <-
    trajectory.metrics["error"] = None  # <-
    return trajectory
""",
)
GOOD = (
    """\
import art

async def rollout(model, scenario):
    trajectory = art.Trajectory(metrics={"turns": 0}, metadata={"task": "maths"})
    trajectory.metrics["won"] = True
    trajectory.metrics["score"] = scenario.score
    return trajectory
""",
)


def check(code: Code) -> Iterator[Found]:
    for value in _metrics(code):
        what = _no_number(value)
        if what:
            yield found(
                value,
                f"this metric is {what}: the episode counts as failed and model.log "
                "raises; use metadata",
            )


def _metrics(code: Code) -> Iterator[ast.expr]:
    for node in code.syntax.nodes:
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            if (
                isinstance(target, ast.Subscript)
                and isinstance(target.value, ast.Attribute)
                and target.value.attr == "metrics"
                and code.trajectories.is_one(target.value.value)
            ):
                yield node.value
    for call in code.trajectories.new:
        given = keyword(call, "metrics")
        if isinstance(given, ast.Dict):
            yield from given.values


def _no_number(value: ast.expr) -> str:
    if isinstance(value, ast.Constant):
        if value.value is None:
            return "None"
        return "text" if isinstance(value.value, str | bytes) else ""
    if isinstance(value, ast.JoinedStr):
        return "text"
    if isinstance(value, ast.Call) and dotted(value.func) in (
        "str",
        "json.dumps",
        "repr",
    ):
        return "text"
    return "a container" if isinstance(value, ast.List | ast.Dict | ast.Set) else ""
