"""Random noise is added to the reward, so chance becomes a full-size advantage

Advantages are divided by the standard deviation of their group. In a group whose episodes did
equally well, noise "to break ties" is the only deviation: it becomes a full-size advantage,
and the model is trained toward whichever episode was lucky.

Leave ties alone: ART drops such groups.

Evidence: art 0.5.18, preprocessing/tokenize.py:247-258; art 0.5.23,
preprocessing/tokenize.py:762-779.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART303", "reward-noise", Severity.GARBAGE)
BAD = (
    """\
import art, random

async def rollout(model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[])
    trajectory.reward = play(scenario) + random.uniform(-0.01, 0.01)  # <-
    return trajectory
""",
    """\
import art
import numpy as np

async def rollout(model, scenario):
    trajectory = art.Trajectory()
    noise = np.random.normal(0, 0.1)
    trajectory.reward = play(scenario) + noise * 0.005  # <-
    return trajectory
""",
)
GOOD = (
    """\
import art, random

async def rollout(model, scenario):
    trajectory = art.Trajectory()
    secret = random.randint(1, 10)
    trajectory.reward = 1.0 if play(secret) == secret else 0.0
    trajectory.reward = secret - play(secret)
    return trajectory
""",
)

NOISE = (
    "random",
    "uniform",
    "gauss",
    "normal",
    "normalvariate",
    "rand",
    "randn",
    "triangular",
)


def check(code: Code) -> Iterator[Found]:
    for write in code.rewards.writes:
        if _adds_noise(code, write.value):
            yield found(
                write.value,
                "noise in the reward becomes a full-size advantage when episodes are tied: "
                "remove it",
            )


def _adds_noise(code: Code, expression: ast.expr, depth: int = 2) -> bool:
    """Return whether a random number is added or subtracted."""
    if isinstance(expression, ast.BinOp) and isinstance(
        expression.op, ast.Add | ast.Sub
    ):
        sides = (expression.left, expression.right)
        return any(_is_random(code, s) or _adds_noise(code, s, depth) for s in sides)
    if isinstance(expression, ast.Name) and depth:
        values = code.syntax.values_of(expression)
        return any(_adds_noise(code, value, depth - 1) for value in values)
    return False


def _is_random(code: Code, expression: ast.expr, depth: int = 2) -> bool:
    if isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Mult):
        return any(
            _is_random(code, side, depth)
            for side in (expression.left, expression.right)
        )
    if isinstance(expression, ast.Call):
        name = code.syntax.qualified(expression.func) or ""
        package, _, function = name.rpartition(".")
        return package.endswith("random") and function in NOISE
    if isinstance(expression, ast.Name) and depth:
        values = code.syntax.values_of(expression)
        return any(_is_random(code, value, depth - 1) for value in values)
    return False
