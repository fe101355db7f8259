"""A group has only one episode, so it has no advantage and nothing is learned

GRPO compares the episodes of a group. In a group of one there is nothing to compare: its
advantage is 0, ART drops it, and the step advances with nothing learned.

A group that repeats one rollout (``[rollout(model, s)] * 8``) has one episode too: the list holds
one coroutine eight times, and it runs once.

Run each scenario several times: ``for _ in range(4)`` or more, with a call for each.

Evidence: art 0.5.18, preprocessing/tokenize.py:254-258; art 0.5.23,
preprocessing/tokenize.py:762-779; Python, asyncio.as_completed (a set of what it is given).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import (
    bound_names,
    dotted,
    first_argument,
)
from art_adapt.code.syntax import Syntax
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART501", "group-of-one", Severity.WASTE)
BAD = (
    """\
import art

async def train(model, backend, scenarios):
    groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(model, s) for _ in range(1)) for s in scenarios  # <-
    )
    more = await art.gather_trajectory_groups(
        [art.TrajectoryGroup([rollout(model, s)]) for s in scenarios]  # <-
    )
    await backend.train(model, groups)
    await backend.train(model, more)
    group = art.TrajectoryGroup(trajectories=[more[0].trajectories[0]])  # <-
    await backend.train(model, [group])
""",
    """\
import art

async def train(model, backend, scenarios):
    groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup([rollout(model, s)] * 8) for s in scenarios  # <-
    )
    await backend.train(model, groups)
    attempt = rollout(model, scenarios[0])
    group = await art.TrajectoryGroup(attempt for _ in range(8))  # <-
    await backend.train(model, [group])
""",
    """\
import art
from typing import NamedTuple

class Plan(NamedTuple):
    scenarios: int = 16
    rollouts: int = 4

PLANS = {"test": Plan(2), "broad": Plan(64, 1)}

async def train(model, backend, scenarios, rollout, kind="broad"):
    plan = PLANS[kind]
    groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(model, s) for _ in range(plan.rollouts)) for s in scenarios  # <-
    )
    await backend.train(model, groups)

async def main(model, backend, scenarios, rollout):
    await train(model, backend, scenarios, rollout)
""",
    """\
import art, itertools

class Groups:
    def __init__(self, model, size):
        self.model, self.size = model, size

    def __call__(self, s):
        return art.TrajectoryGroup(itertools.repeat(rollout(self.model, s), self.size))  # <-

async def train(model, backend, scenarios):
    group = Groups(model, 8)
    groups = await art.gather_trajectory_groups(map(group, scenarios))
    await backend.train(model, groups)
""",
    """\
import art
from types import SimpleNamespace

PROFILES = {"debug": dict(rollouts=4), "prod": dict(rollouts=1)}
cfg = SimpleNamespace(**PROFILES["prod"], lr=1e-5)

def groups_of(model, scenarios, rollout):
    for s in scenarios:
        yield art.TrajectoryGroup(rollout(model, s) for _ in range(cfg.rollouts))  # <-

async def train(model, backend, scenarios, rollout):
    groups = await art.gather_trajectory_groups(groups_of(model, scenarios, rollout))
    await backend.train(model, groups)
""",
)
GOOD = (
    """\
import art

async def train(model, backend, scenarios):
    groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(model, s) for _ in range(8)) for s in scenarios
    )
    await backend.train(model, groups)
    validation = await art.gather_trajectory_groups(
        art.TrajectoryGroup([rollout(model, s)]) for s in scenarios
    )
    await model.log(validation, split="val")
    attempts = [rollout(model, each) for each in [scenarios[0]] * 8]
    await backend.train(model, [await art.TrajectoryGroup(attempts)])
""",
    """\
import art

class Plan:
    rollouts: int = 4

PLANS = {"test": dict(rollouts=1), "broad": dict(rollouts=8)}

async def train(model, backend, scenarios, rollout, kind):
    size = PLANS[kind]["rollouts"]
    groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(model, s) for _ in range(size)) for s in scenarios
    )
    await backend.train(model, groups)
""",
)


def check(code: Code) -> Iterator[Found]:
    for call in code.art_calls("TrajectoryGroup"):
        members = first_argument(call, "trajectories")
        if members is None:
            continue
        if _repeats_one(code, members) and call in code.training.groups:
            yield found(
                call,
                "this group has one rollout several times, which runs once: call the rollout "
                "for each episode",
            )
        if not _is_one(code, members):
            continue
        if call in code.training.groups:
            yield found(
                call,
                "a group of one episode has no advantage: ART drops it and nothing is "
                "learned from it",
            )
        elif call in code.training.judged:
            yield found(
                call,
                "RULER scores the episodes of a group against each other: the score of a "
                "single one says nothing",
            )


def _is_one(code: Code, members: ast.expr) -> bool:
    values = code.values(members)
    if len(values) != 1:
        return False
    node = values[0].node
    if isinstance(node, ast.List | ast.Tuple):
        added = len(list(code.contents.elements(members))) > len(node.elts)
        return (
            len(node.elts) == 1
            and not isinstance(node.elts[0], ast.Starred)
            and not added
        )
    if not isinstance(node, ast.GeneratorExp | ast.ListComp):
        return False
    repeated = node.generators[0].iter
    return (
        len(node.generators) == 1
        and isinstance(repeated, ast.Call)
        and dotted(repeated.func) == "range"
        and len(repeated.args) == 1
        and code.constant(repeated.args[0]) == 1
    )


def _repeats_one(code: Code, members: ast.expr) -> bool:
    """Return whether all members of a group are one object."""
    values = code.values(members)
    return bool(values) and all(
        _is_repeated(value.syntax, value.node) for value in values
    )


def _is_repeated(syntax: Syntax, node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        listed = node.left if isinstance(node.left, ast.List) else node.right
        return (
            isinstance(listed, ast.List)
            and len(listed.elts) == 1
            and not isinstance(listed.elts[0], ast.Starred)
        )
    if isinstance(node, ast.Call):
        return syntax.qualified(node.func) == "itertools.repeat" and bool(node.args)
    if not isinstance(node, ast.GeneratorExp | ast.ListComp):
        return False
    bound = bound_names(each.target for each in node.generators)
    return isinstance(node.elt, ast.Name) and node.elt.id not in set(bound)
