"""PipelineTrainer's rollout_fn returns no group, so each result is thrown away

``PipelineTrainer`` asks ``rollout_fn`` for a ``TrajectoryGroup``. It drops anything else without
a message: all rollouts are paid for, and no step is trained.

Return a group of several rollouts, or pass ``make_group_rollout_fn(rollout, n=8)``.

Evidence: art 0.5.18, pipeline_trainer/trainer.py:437-443 (``isinstance(group,
TrajectoryGroup)``, else it goes on).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import argument_of
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART546", "pipeline-rollout-without-group", Severity.GARBAGE)
BAD = (
    """\
import art
from art.pipeline_trainer import PipelineTrainer

async def solve(model, scenario, config) -> art.Trajectory:
    return art.Trajectory(messages_and_choices=[scenario], reward=1.0)

async def train(model, backend, rows):
    trainer = PipelineTrainer(model, backend, solve, rows, None)  # <-
    await trainer.train()
""",
    """\
import art
from art.pipeline_trainer import PipelineTrainer

async def solve(model, scenario, config):
    trajectory = art.Trajectory(messages_and_choices=[scenario])
    trajectory.reward = 1.0
    return trajectory

async def train(model, backend, rows):
    await PipelineTrainer(
        model=model, backend=backend, rollout_fn=solve, scenarios=rows, config=None  # <-
    ).train()
""",
)
GOOD = (
    """\
import art
from art.pipeline_trainer import PipelineTrainer, make_group_rollout_fn

async def solve(model, scenario, config) -> art.Trajectory:
    return art.Trajectory(messages_and_choices=[scenario], reward=1.0)

async def group(model, scenario, config):
    return art.TrajectoryGroup([await solve(model, scenario, config) for _ in range(8)])

async def train(model, backend, rows):
    await PipelineTrainer(model, backend, group, rows, None).train()
    grouped = make_group_rollout_fn(solve, n=8)
    await PipelineTrainer(model, backend, grouped, rows, None).train()
""",
)
TRAJECTORY = ("art.Trajectory", "art.trajectories.Trajectory")
GIVEN = ("model", "backend", "rollout_fn", "scenarios", "config")


def check(code: Code) -> Iterator[Found]:
    for call in code.art_calls("PipelineTrainer"):
        rollout = argument_of(call, "rollout_fn", GIVEN)
        if rollout is not None and _returns_trajectories(code, rollout):
            yield found(
                rollout,
                "rollout_fn returns a trajectory, which PipelineTrainer drops: return a "
                "TrajectoryGroup, or pass make_group_rollout_fn(...)",
            )


def _returns_trajectories(code: Code, rollout: ast.expr) -> bool:
    """Return whether a function certainly returns one trajectory."""
    called = code.flow.functions.called(code.syntax, rollout)
    if called is None:
        return False
    syntax, function = called
    if function.node.decorator_list:
        return False  # which may make a group of it
    annotated = function.node.returns
    if annotated is not None:
        return syntax.qualified(annotated) in TRAJECTORY
    returned = [
        node.value
        for node in syntax.owned_by(function.qualname)
        if isinstance(node, ast.Return) and node.value is not None
    ]
    made = [value.node for each in returned for value in code.values(each)]
    here = syntax is code.syntax
    return here and bool(made) and set(made) <= set(code.trajectories.new)
