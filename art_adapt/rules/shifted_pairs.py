"""Groups are paired with scenarios by position, although the gather leaves groups out

``gather_trajectory_groups`` leaves out each group for which ``after_each`` returned None, such as
one that the judge could not score. Every later group moves up, and ``zip(groups, scenarios)`` pairs
it with another one's scenario: its rewards are computed from the wrong answer.

Let the group carry its scenario: ``art.TrajectoryGroup(..., metadata={"scenario": scenario.id})``,
or a field of its trajectories.

Evidence: art 0.5.18, gather.py:50-59; art 0.5.23, gather.py ("Filter out any None results").
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.dependence import made_from
from art_adapt.code.nodes import (
    dotted,
    first_argument,
    keyword,
)
from art_adapt.rules.code import Code, Value
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART316", "shifted-pairs", Severity.GARBAGE)
BAD = (
    """\
import art
from art.rewards import ruler_score_group

async def step(model, scenarios, rollout):
    groups = await art.gather_trajectory_groups(
        (art.TrajectoryGroup(rollout(model, s) for _ in range(8)) for s in scenarios),
        after_each=lambda g: ruler_score_group(g, "openai/o3", swallow_exceptions=True),
    )
    for group, scenario in zip(groups, scenarios):  # <-
        for trajectory in group:
            trajectory.reward += scenario.bonus
""",
)
GOOD = (
    BAD[0].replace("  # <-", "").replace(", swallow_exceptions=True", ""),
    BAD[0].replace("scenarios):  # <-", "scenarios, strict=True):"),
    BAD[0]
    .replace("  # <-", "")
    .replace("zip(groups, scenarios)", "zip(groups, range(9))"),
)


def check(code: Code) -> Iterator[Found]:
    dropping = {c.gather for c in code.callbacks if code.callbacks.may_drop(c)}
    for call in code.calls if dropping else ():
        name = dotted(call.func)
        if name == "zip" and code.constant(keyword(call, "strict")) is not True:
            pairs = [(one, two) for one in call.args for two in call.args]
        elif name == "enumerate" and call.args:
            pairs = [(call.args[0], each) for each in _indexed(code, call)]
        else:
            continue
        if any(_is_of(code, two, _gathered(code, one, dropping)) for one, two in pairs):
            yield found(
                call,
                "groups that after_each dropped are missing here, so later ones get the "
                "scenario of another: keep it in the group's metadata",
            )


def _gathered(code: Code, groups: ast.expr, dropping: set[ast.Call]) -> list[Value]:
    """Return the gathers that certainly gave the groups."""
    values = code.values(groups)
    found_here = [value for value in values if value.node in dropping]
    return found_here if len(found_here) == len(values) else []


def _is_of(code: Code, other: ast.expr, gathers: list[Value]) -> bool:
    """Return whether it is what the groups of a gather were made for, one by one."""
    names = {dotted(value.node) for value in code.values(other)}
    return any(names & _gone_through(code, gather) for gather in gathers)


def _gone_through(code: Code, gather: Value) -> set[str | None]:
    """Return the names of what the groups of a gather were made from in a loop."""
    assert isinstance(gather.node, ast.Call)
    groups = filter(None, [first_argument(gather.node, "groups")])
    syntax = gather.syntax
    made = made_from(syntax, syntax.owner(gather.node), groups)
    loops = {node.iter for node in made if isinstance(node, ast.comprehension)}
    return {dotted(each) for each in loops} - {None}


def _indexed(code: Code, call: ast.Call) -> Iterator[ast.expr]:
    """Yield what is indexed by the numbers of a loop over ``enumerate``."""
    loop = code.syntax.parents.get(call)
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Tuple):
        return
    number = dotted(loop.target.elts[0])
    for node in code.blocks.inside(loop):
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Load)
            and isinstance(node.slice, ast.Name)
            and node.slice.id == number
        ):
            yield node.value
