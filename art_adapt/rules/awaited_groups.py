"""Groups are awaited before the gather, or returned by a coroutine, so they are lost

``gather_trajectory_groups`` expects groups that have not been awaited. A group that was
awaited before, or a coroutine that returns an unawaited group, raises a TypeError.
``max_exceptions`` absorbs that error: the gather returns ``[]``, and the step trains on
nothing.

Pass ``art.TrajectoryGroup(rollout(...) for ...)`` without awaiting it.

Evidence: art 0.5.18, gather.py:143-157; art 0.5.23, gather.py:136-152.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import first_argument, receiver
from art_adapt.rules.code import Code, Value
from art_adapt.rules.code.training import makes_group
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART503", "awaited-groups", Severity.GARBAGE)
BAD = (
    """\
import art

async def step(model, scenarios):
    groups = [await art.TrajectoryGroup(rollout(model, s) for _ in range(4)) for s in scenarios]  # <-
    return await art.gather_trajectory_groups(groups, max_exceptions=9)
""",
    """\
import art

async def group(model, scenario):
    return art.TrajectoryGroup(rollout(model, scenario) for _ in range(4))  # <-

async def step(model, scenarios):
    return await art.gather_trajectory_groups(group(model, s) for s in scenarios)
""",
)
GOOD = (
    """\
import art

def group(model, scenario):
    return art.TrajectoryGroup(rollout(model, scenario) for _ in range(4))

async def awaited(model, scenario):
    return await art.TrajectoryGroup(rollout(model, scenario) for _ in range(4))

async def step(model, scenarios):
    await art.gather_trajectory_groups(group(model, s) for s in scenarios)
    return await art.gather_trajectory_groups(awaited(model, s) for s in scenarios)
""",
    """\
import art

async def sampled(model, s):
    response = await model.openai_client().chat.completions.create(model="m", messages=[s], n=8)
    made = [
        art.Trajectory(messages_and_choices=[s, choice], reward=rate(choice)).finish()
        for choice in response.choices
    ]
    return art.TrajectoryGroup(made)

async def step(model, scenarios):
    return await art.gather_trajectory_groups(sampled(model, s) for s in scenarios)
""",
)

LOST = "gather_trajectory_groups raises, or with max_exceptions silently returns []"


def check(code: Code) -> Iterator[Found]:
    for gather in code.art_calls("gather_trajectory_groups"):
        groups = first_argument(gather, "groups")
        if groups is None:
            continue
        if all(makes_group(value) for value in code.values(groups)):
            yield found(
                groups,
                "this is one group, not a list of groups: gather_trajectory_groups raises "
                "a TypeError; pass [group]",
            )
            continue
        for value in _held(code, groups):
            node = value.node
            if isinstance(node, ast.Await) and _is_group_of_rollouts(code, value, node):
                at = node if code.has(value) else groups
                yield found(at, f"this group is awaited before it is gathered: {LOST}")
            elif isinstance(node, ast.Call):
                yield from _unawaited(code, value)


def _held(code: Code, groups: ast.expr) -> Iterator[Value]:
    """Yield what a list of groups holds, and what names in it are given: an ``await``, too."""
    for held in code.contents.elements(groups):
        yield held
        yield from map(held.of, held.syntax.values_of(held.node))


def _is_group_of_rollouts(code: Code, value: Value, awaited: ast.Await) -> bool:
    """Return whether a group is awaited, made here or in a plain function."""
    made = value.of(awaited.value)
    body = code.entered(made)
    if body is not None and isinstance(body.function.node, ast.AsyncFunctionDef):
        return False  # it is the function that is awaited
    return all(map(makes_group, code.values(made)))


def _runs(code: Code, rollout: Value) -> bool:
    """Return whether a call makes a rollout that still runs, and no trajectory that is."""
    made = receiver(rollout.node, "finish") or rollout.node
    if not isinstance(made, ast.Call) or made in code.trajectories.new:
        return False
    body = code.entered(rollout)
    return body is None or isinstance(body.function.node, ast.AsyncFunctionDef)


def _unawaited(code: Code, call: Value) -> Iterator[Found]:
    """Yield the groups that a called async function returns without awaiting them."""
    body = code.entered(call)
    if body is None or not isinstance(body.function.node, ast.AsyncFunctionDef):
        return
    for returned in body.returns():
        node = returned.node
        members = (
            first_argument(node, "trajectories") if isinstance(node, ast.Call) else None
        )
        if not makes_group(returned) or members is None:
            continue
        held = code.contents.elements(returned.of(members))
        if any(_runs(code, each) for each in held):
            here = returned.syntax is code.syntax
            assert isinstance(call.node, ast.Call)
            yield found(
                node if here else call.node,
                "this async function returns an unawaited group: gathering it raises, or "
                "with max_exceptions silently returns []; make it a plain def",
            )
