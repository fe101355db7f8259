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

from art_adapt.code.nodes import dotted
from art_adapt.paths import at
from art_adapt.rules.code import Code, Value
from art_adapt.rules.code.chance import GENERATORS
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
    """\
import art
import numpy as np

dice = np.random.default_rng(7)

def separate(group: art.TrajectoryGroup):
    for trajectory, noise in zip(group, dice.normal(0, 0.01, len(group)), strict=True):
        trajectory.reward += float(noise)  # <-
""",
    """\
from random import random
from art_adapt import training

def score(trajectory, scenario):
    right = scenario.expected in trajectory.final_answer
    return {"right": float(right) + 0.01 * random()}

async def rollout(model, scenario):
    trajectory = await training.record(model, scenario, episode)
    return await training.scored(score, trajectory, scenario)  # <-
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
    "standard_normal",
)
CASTS = ("float", "int", "round")
NOISY = "noise in the reward becomes a full-size advantage when episodes are tied: remove it"


def check(code: Code) -> Iterator[Found]:
    for named, value in code.rewards.of_functions:
        if _adds_noise(code, value):
            yield found(named, f"{at(value.syntax.place(value.node))}: {NOISY}")
    for write in () if code.only_evaluates else code.rewards.writes:
        added = isinstance(write.node, ast.AugAssign) and any(
            _is_random(code, value) for value in code.values(write.value)
        )
        if added or _adds_noise(code, code.flow.here(write.value)):
            yield found(write.value, NOISY)


def _adds_noise(code: Code, value: Value) -> bool:
    """Return whether a random number is added or subtracted, also inside ``min(...)``."""
    seen: set[Value] = set()
    left = [value]
    while left:
        for each in code.values(left.pop()):
            if each in seen:
                continue
            seen.add(each)
            node = each.node
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                left += map(each.of, node.args)
            elif (array := _gone_through(node)) is not None:
                left.append(each.of(array))
            elif isinstance(node, ast.BinOp):
                sides = [each.of(node.left), each.of(node.right)]
                if isinstance(node.op, ast.Add | ast.Sub) and any(
                    _is_random(code, value)
                    for side in sides
                    for value in code.values(side)
                ):
                    return True
                left += sides
    return False


def _is_random(code: Code, value: Value) -> bool:
    node = value.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        return any(
            _is_random(code, each)
            for side in (node.left, node.right)
            for each in code.values(value.of(side))
        )
    if (array := _gone_through(node)) is not None:
        return any(_is_random(code, each) for each in code.values(value.of(array)))
    if not isinstance(node, ast.Call):
        return False
    if dotted(node.func) in CASTS and node.args:
        return any(
            _is_random(code, each) for each in code.values(value.of(node.args[0]))
        )
    name = value.syntax.qualified(node.func) or ""
    package, _, function = name.rpartition(".")
    return function in NOISE and (
        package.endswith(("random", "rng")) or _is_generator(code, value.of(node.func))
    )


def _gone_through(node: ast.expr) -> ast.expr | None:
    """Return the array that a loop goes through, of the name that it binds."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return node.value if node.slice.value is ... else None
    return None


def _is_generator(code: Code, method: Value) -> bool:
    """Return whether a method is one of a generator of random numbers that is made here."""
    return isinstance(method.node, ast.Attribute) and any(
        isinstance(made.node, ast.Call)
        and made.syntax.qualified(made.node.func) in GENERATORS
        for made in code.values(method.of(method.node.value))
    )
