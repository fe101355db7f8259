"""No reward is ever set, so every group is tied and nothing is learned

A reward that is never set is 0.0, without a warning. All episodes of a group are then equal,
no group has an advantage, and every step advances with nothing learned.

Set ``trajectory.reward`` in the rollout, or let RULER score the groups.

Evidence: art 0.5.18, trajectories.py:42; art 0.5.23, trajectories/__init__.py:617; in both,
preprocessing/tokenize.py (groups without variance are dropped).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.reaching import Bound, Definition, reaching_by_node
from art_adapt.rules.code import Code
from art_adapt.rules.rule import LOOP, Found, Rule, Severity, found

RULE = Rule("ART301", "missing-reward", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[])  # <-
    return trajectory
"""
    + LOOP,
    """\
import art

async def rollout(model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[])
    for turn in range(9):
        done = await step(scenario, trajectory.messages())
        if done:
            trajectory.reward = 1.0 if done.right else -0.5
            return trajectory
        if done is None:
            trajectory.reward = -1.0
            return trajectory
    trajectory.metrics["turns"] = 9
    return trajectory  # <-
"""
    + LOOP,
    """\
import art

def grade(trajectory: art.Trajectory, text):
    if not text:
        trajectory.reward = -1.0
        return
    if len(text) > 99:
        trajectory.metrics["long"] = 1
        return  # <-
    trajectory.reward = 1.0 * text.isupper()

async def rollout(model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[])
    grade(trajectory, await answer(model, scenario))
    return trajectory
"""
    + LOOP,
    """\
import art

class Episode:
    def __init__(self, scenario):
        self.reward = 0.0
        self.trajectory = art.Trajectory(messages_and_choices=[])  # <-

    async def run(self, model):
        self.reward = 1.0 * len(await answer(model))
        return self.trajectory.finish()

async def rollout(model, scenario):
    return await Episode(scenario).run(model)
"""
    + LOOP,
    """\
import art

class Runner:
    async def one(self, task):
        trajectory = art.Trajectory(messages_and_choices=[])  # <-
        trajectory.metrics.update(reward=task.grade(await answer(task)))
        return trajectory.finish()

    def group(self, task):
        return art.TrajectoryGroup(self.one(task) for _ in range(8))

async def main(model, backend, tasks):
    runner = Runner()
    groups = await art.gather_trajectory_groups(map(runner.group, tasks))
    await backend.train(model, groups)
""",
    """\
import art
from dataclasses import asdict, dataclass

@dataclass
class Scorecard:
    reward: float = 0.0
    chrf: float = 0.0

    def attach(self, trajectory):
        trajectory.metrics.update(asdict(self))
        return trajectory

async def rollout(client, model, pair):
    trajectory = art.Trajectory(messages_and_choices=[pair.asked])  # <-
    done = await client.chat.completions.create(model=model.name, messages=trajectory.messages())
    trajectory.messages_and_choices.append(done.choices[0])
    value = chrf(done.choices[0].message.content, pair.target)
    return Scorecard(reward=value, chrf=value).attach(trajectory)

async def main(client, model, backend, pairs):
    for step in range(await model.get_step(), 50):
        groups = await art.gather_trajectory_groups(
            art.TrajectoryGroup(rollout(client, model, pair) for _ in range(8)) for pair in pairs
        )
        await backend.train(model, groups)
""",
)
GOOD = (
    """\
import art
from judges import score_all

class Trainer:
    @property
    def groups(self):
        return self.gathered

    async def rollout(self, row):
        return art.Trajectory(messages_and_choices=[row])

    async def step(self, model, backend, rows):
        self.gathered = await art.gather_trajectory_groups(
            art.TrajectoryGroup(self.rollout(row) for _ in range(8)) for row in rows
        )
        await score_all(self.groups)
        await backend.train(model, self.gathered)
""",
    """\
import art

async def rollout(model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[])
    for turn in range(9):
        if await step(scenario, trajectory.messages()):
            trajectory.reward = 1.0
            return trajectory
    return trajectory

async def played(model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[])
    trajectory.reward = -1.0
    for turn in range(9):
        if await step(scenario, trajectory.messages()):
            trajectory.reward = 1.0
    return trajectory
"""
    + LOOP,
    BAD[0]
    .replace("  # <-", "")
    .replace(
        "    return t", "    trajectory.reward = 1.0 * len(scenario)\n    return t"
    ),
    BAD[0]
    .replace("  # <-", "")
    .replace(
        "  await b",
        "  groups = [await ruler_score_group(g) for g in groups]\n    await b",
    ),
    "import art\n\nasync def rollout(model, scenario):\n    return art.Trajectory(messages_and_choices=[])\n",
)


def check(code: Code) -> Iterator[Found]:
    if not code.training.whole_loop:
        return
    if not code.rewards.may_be_set:
        yield found(
            (*code.trajectories.new, *code.recording_calls)[0],
            "no reward is ever set: every episode gets 0.0, and no group has an advantage",
        )
    elif not code.rewards.may_be_set_out_of_sight:
        owners = (code.syntax.owner(each.node) for each in code.rewards.writes)
        for owner in dict.fromkeys(owners):
            yield from _left_out(code, owner)


def _left_out(code: Code, owner: str) -> Iterator[Found]:
    """Yield returns of a function before which no way sets the reward that others get.

    0.0 is a mistake for certain where failures get less: this way is better than these.
    """
    function = code.syntax.functions.get(owner)
    writes = [each for each in code.rewards.writes if each.target is not None]
    penalties = [below for each in writes for below in _below_zero(each.value)]
    if (
        function is None
        or len(writes) < len(code.rewards.writes)
        or not penalties
        or any(code.syntax.owner(each.node) != owner for each in writes)
    ):
        return
    nothing = Definition(function.node, None)
    bound: dict[ast.AST, list[Bound]] = {
        each.node: [Bound(Definition(each.node, each.value))] for each in writes
    }
    reaching = reaching_by_node(function.node.body, bound, [nothing])
    makes = any(code.syntax.owner(each) == owner for each in code.trajectories.new)
    for node in code.syntax.owned_by(owner):
        if (
            isinstance(node, ast.Return)
            and (
                code.trajectories.is_one(node.value)
                if node.value is not None
                else not makes  # it is given the trajectory
            )
            and reaching.get(node) == frozenset([nothing])
        ):
            yield found(
                node,
                "no way to this line sets a reward: the episode gets 0.0, which is more than "
                f"the {ast.unparse(penalties[0])} of others",
            )


def _below_zero(value: ast.expr) -> Iterator[ast.expr]:
    """Yield the negative numbers that a reward may be, as they are written out."""
    for each in [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]:
        if (
            isinstance(each, ast.UnaryOp)
            and isinstance(each.op, ast.USub)
            and isinstance(each.operand, ast.Constant)
            and each.operand.value != 0
        ):
            yield each
