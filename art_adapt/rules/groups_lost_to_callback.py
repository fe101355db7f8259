"""after_each gives no group back, so the gather raises or returns no groups

``gather_trajectory_groups`` awaits what ``after_each`` returns, and leaves out a group for which
that is None. A plain function that returns the group ends the gather with a TypeError. A coroutine
without ``return group`` drops every group: the step trains on nothing.

Write ``async def``, and return the group.

Evidence: art 0.5.18, gather.py:41-59; art 0.5.23, gather.py (``return await after_each(group)``,
then "Filter out any None results").
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import arguments_of
from art_adapt.code.reaching import is_left
from art_adapt.rules.code import Body, Callback, Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART536", "groups-lost-to-callback", Severity.WASTE)
BAD = (
    """\
import art

def settle(group):
    for trajectory in group:
        trajectory.reward *= 2
    return group

async def gather(groups):
    return await art.gather_trajectory_groups(groups, after_each=settle)  # <-
""",
    """\
import art

async def settle(group):
    for trajectory in group:
        trajectory.reward *= 2

async def gather(groups):
    return await art.gather_trajectory_groups(groups, after_each=lambda g: settle(g))  # <-
""",
    """\
import art
from art.rewards import ruler_score_group

async def gather(groups, judges):
    return await art.gather_trajectory_groups(
        groups,
        after_each=lambda g: ruler_score_group(g, "openai/o3") if judges else None,  # <-
    )
""",
    """\
import art

async def score(group):
    if len(group) < 2:
        return group
    try:
        scores = await judge(group)
    except TimeoutError:
        return None
    for trajectory, score in zip(group.trajectories, scores):
        trajectory.reward = score

async def gather(groups):
    return await art.gather_trajectory_groups(groups, after_each=score)  # <-
""",
    """\
import art

class Shorter:
    def __init__(self, weight):
        self.weight = weight

    async def __call__(self, group: art.TrajectoryGroup):
        lengths = [each.metrics["tokens"] for each in group]
        if not lengths:
            return group
        for trajectory, tokens in zip(group.trajectories, lengths):
            trajectory.reward -= self.weight * tokens
        group.metrics["tokens"] = sum(lengths)

async def gather(groups):
    shorter = Shorter(0.01)
    return await art.gather_trajectory_groups(groups, after_each=shorter)  # <-
""",
)
GOOD = (
    BAD[0].replace("  # <-", "").replace("def settle", "async def settle"),
    """\
import art
from art.rewards import ruler_score_group

def judge(group):
    return ruler_score_group(group, "openai/o3")

async def useful(group):
    if len({trajectory.reward for trajectory in group}) > 1:
        return group

async def store(group):
    save(group)

async def refuse(group):
    raise NotImplementedError

async def gather(groups, judges):
    await art.gather_trajectory_groups(groups, after_each=judge if judges else None)
    await art.gather_trajectory_groups(groups, after_each=store)
    await art.gather_trajectory_groups(groups, after_each=useful)
    await art.gather_trajectory_groups(groups, after_each=refuse)
    return await art.gather_trajectory_groups(groups, after_each=judge)
""",
)


def check(code: Code) -> Iterator[Found]:
    for callback in code.callbacks:
        body = callback.body
        if _is_plain(callback):
            yield found(
                callback.given,
                "after_each is awaited, and this is no coroutine: the gather raises a "
                "TypeError; write async def",
            )
        elif (
            body is not None
            and _gives_nothing(body)
            and not code.uses.of(callback.gather).is_lost
        ):
            yield found(
                callback.given,
                f"{body.function.qualname} returns nothing, so the gather drops every group: "
                "return the group",
            )
        elif (
            body is not None
            and isinstance(body.function.node, ast.AsyncFunctionDef)
            and not is_left(body.function.node.body)
            and any(map(_sets_rewards, _in_a_row(body.function.node.body)))
        ):
            yield found(
                callback.given,
                f"{body.function.qualname} ends after it has set the rewards, and returns "
                "nothing: the gather drops every group that it scores; return the group",
            )


def _in_a_row(block: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a block, and those in its ``with`` blocks."""
    for statement in block:
        if isinstance(statement, ast.With | ast.AsyncWith):
            yield from _in_a_row(statement.body)
        else:
            yield statement


def _sets_rewards(statement: ast.stmt) -> bool:
    """Return whether a statement sets rewards, and returns no group."""
    nodes = list(ast.walk(statement))
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == "reward"
        and isinstance(node.ctx, ast.Store)
        for node in nodes
    ) and not any(isinstance(node, ast.Return | ast.Raise) for node in nodes)


def _is_plain(callback: Callback) -> bool:
    """Return whether what it gives back certainly cannot be awaited."""
    made = callback.made.node
    if isinstance(made, ast.Lambda) and not isinstance(made.body, ast.Call):
        return _cannot_be_awaited(made.body, made)
    body = callback.body
    if body is None or not isinstance(body.function.node, ast.FunctionDef):
        return False
    function = body.function.node
    if function.decorator_list or any(map(_is_yield, body.nodes)):
        return False
    return all(_cannot_be_awaited(each, function) for each in _returned(body))


def _cannot_be_awaited(
    returned: ast.expr | None, function: ast.FunctionDef | ast.Lambda
) -> bool:
    """Return whether it is a constant, a list or the group that the function got, or may be."""
    if isinstance(returned, ast.IfExp):
        arms = (returned.body, returned.orelse)
        return any(_cannot_be_awaited(each, function) for each in arms)
    if isinstance(returned, ast.Name):
        return any(returned.id == each.arg for each in arguments_of(function))
    return returned is None or isinstance(returned, ast.Constant | ast.List | ast.Tuple)


def _gives_nothing(body: Body) -> bool:
    """Return whether a coroutine ends without a value, whatever it did."""
    function = body.function.node
    return (
        isinstance(function, ast.AsyncFunctionDef)
        and not function.decorator_list
        and not isinstance(function.body[-1], ast.Raise)
        and not any(map(_is_yield, body.nodes))
        and all(each is None for each in _returned(body))
    )


def _returned(body: Body) -> list[ast.expr | None]:
    return [node.value for node in body.nodes if isinstance(node, ast.Return)]


def _is_yield(node: ast.AST) -> bool:
    return isinstance(node, ast.Yield | ast.YieldFrom)
