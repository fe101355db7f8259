"""The reward is None, text or not finite, so it corrupts its group or ends the step

One NaN makes every advantage of its group NaN, on ART 0.5.18 those of the whole step, and then
the weights. ``None`` and text end the step with a TypeError (0.5.18) or the rollout with a
ValidationError (0.5.23).

Raise an exception if an episode cannot be scored: its group goes on without it.

Evidence: art 0.5.18, preprocessing/tokenize.py:247-257 and pack.py:156-159; art 0.5.23,
trajectories/__init__.py:606 and preprocessing/tokenize.py:762-778.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.nodes import dotted

RULE = Rule("ART304", "unusable-reward", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[])
    trajectory.reward = float("nan")  # <-
    if scenario.late:
        trajectory.reward = None  # <-
    return trajectory
""",
)
GOOD = (
    """\
import art

async def rollout(model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[], reward=0)
    trajectory.reward = float(scenario.score)
    trajectory.reward = True
    return trajectory
""",
)


def check(code: Code) -> Iterator[Found]:
    for write in code.rewards.writes:
        what = _unusable(write.value)
        if what:
            yield found(
                write.value,
                f"the reward is {what}, which corrupts its group or ends the step; raise "
                "instead, and the group goes on without this episode",
            )


def _unusable(value: ast.expr) -> str:
    if isinstance(value, ast.Constant):
        if value.value is None:
            return "None"
        return "text" if isinstance(value.value, str) else ""
    if isinstance(value, ast.JoinedStr):
        return "text"
    if (dotted(value) or "") in (
        "math.nan",
        "np.nan",
        "numpy.nan",
        "math.inf",
        "np.inf",
    ):
        return "not finite"
    if (
        isinstance(value, ast.Call)
        and dotted(value.func) == "float"
        and value.args
        and isinstance(value.args[0], ast.Constant)
        and str(value.args[0].value).lower().lstrip("+-") in ("nan", "inf", "infinity")
    ):
        return "not finite"
    return ""
