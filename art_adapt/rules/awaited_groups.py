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

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.nodes import dotted

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
)


def check(code: Code) -> Iterator[Found]:
    gathers = list(code.art_calls("gather_trajectory_groups"))
    for gather in gathers:
        groups = gather.args[0] if gather.args else None
        for value in _written(code, groups):
            if isinstance(value, ast.Await) and _makes_group(code, value.value):
                yield found(
                    value,
                    "this group is awaited before it is gathered: gather_trajectory_groups "
                    "raises, or with max_exceptions silently returns []",
                )
            elif isinstance(value, ast.Call):
                yield from _unawaited(code, value)


def _written(code: Code, groups: ast.expr | None) -> Iterator[ast.expr]:
    """Yield the expressions of the groups that are gathered."""
    if isinstance(groups, ast.GeneratorExp | ast.ListComp):
        yield groups.elt
    elif isinstance(groups, ast.List):
        yield from groups.elts
    elif isinstance(groups, ast.Name):
        for value in code.syntax.values_of(groups):
            if not isinstance(value, ast.Name):
                yield from _written(code, value)


def _makes_group(code: Code, value: ast.expr) -> bool:
    return (
        isinstance(value, ast.Call)
        and (code.art_name(value.func) or "").endswith(".TrajectoryGroup")
        and bool(value.args)
        and not (
            isinstance(value.args[0], ast.List)
            and all(isinstance(each, ast.Name) for each in value.args[0].elts)
        )
    )


def _unawaited(code: Code, call: ast.Call) -> Iterator[Found]:
    """Yield the groups that a called async function returns without awaiting them."""
    name = dotted(call.func)
    function = code.syntax.functions.get(name or "")
    if function is None or not isinstance(function.node, ast.AsyncFunctionDef):
        return
    for node in code.syntax.owned_by(function.qualname):
        if (
            isinstance(node, ast.Return)
            and node.value is not None
            and _makes_group(code, node.value)
            and isinstance(node.value, ast.Call)
            and isinstance(node.value.args[0], ast.GeneratorExp | ast.ListComp)
            and isinstance(node.value.args[0].elt, ast.Call)
        ):
            yield found(
                node.value,
                "this async function returns an unawaited group: gathering it raises, or "
                "with max_exceptions silently returns []; make it a plain def",
            )
