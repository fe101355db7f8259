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

from art_adapt.code.nodes import argument_of, last_name
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
ONE = "a trajectory"
LISTS = ("list", "List")
GIVEN = ("model", "backend", "rollout_fn", "scenarios", "config")


def check(code: Code) -> Iterator[Found]:
    for call in code.art_calls("PipelineTrainer"):
        rollout = argument_of(call, "rollout_fn", GIVEN)
        returned = None if rollout is None else _returned(code, rollout)
        if rollout is not None and returned is not None:
            yield found(
                rollout,
                f"rollout_fn returns {returned}, which PipelineTrainer drops: return a "
                "TrajectoryGroup, or pass make_group_rollout_fn(...)",
            )


def _returned(code: Code, rollout: ast.expr) -> str | None:
    """Return what a function certainly returns in place of a group; None if it may be one."""
    called = code.flow.functions.called(code.syntax, rollout)
    if called is None:
        return None
    syntax, function = called
    if function.node.decorator_list:
        return None  # which may make a group of it
    annotated = function.node.returns
    if isinstance(annotated, ast.Subscript) and last_name(annotated.value) in LISTS:
        return "a list"
    if annotated is not None:
        return ONE if syntax.qualified(annotated) in TRAJECTORY else None
    returned = [
        node.value
        for node in syntax.owned_by(function.qualname)
        if isinstance(node, ast.Return) and node.value is not None
    ]
    made = [value.node for each in returned for value in code.values(each)]
    if made and all(isinstance(each, ast.List | ast.ListComp) for each in made):
        return "a list"
    here = syntax is code.syntax
    return ONE if here and made and {*made} <= {*code.trajectories.new} else None
