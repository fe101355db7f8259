"""A group is rebuilt from its trajectories, so its exceptions and metadata are lost

``art.TrajectoryGroup(group.trajectories)`` has no exceptions, metadata, metrics or logs: the
number of failed rollouts is missing from the logs. On ART 0.5.18
``exceptions=group.exceptions`` raises; assign the attribute instead.

Evidence: art 0.5.18, trajectories.py:155-172; art 0.5.23, trajectories/_compat.py:19-25.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import (
    bound_names,
    dotted,
    first_argument,
    given_to,
    last_name,
)
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART516", "rebuilt-group", Severity.UNTIDY)
BAD = (
    """\
import art

def best(group):
    return art.TrajectoryGroup([t for t in group.trajectories if t.reward > 0])  # <-
""",
    """\
import art

async def step(model, backend, scenarios, rollout):
    finished = await art.gather_trajectory_groups(
        (art.TrajectoryGroup(rollout(model, s) for _ in range(8)) for s in scenarios)
    )
    kept = []
    for group in finished:
        good = []
        for trajectory in group:
            if not trajectory.metrics.get("broken"):
                good.append(trajectory)
        kept.append(art.TrajectoryGroup(good))  # <-
    await backend.train(model, kept)
""",
    """\
import art

async def step(model, backend, scenarios, rollout):
    finished = await art.gather_trajectory_groups(
        (art.TrajectoryGroup(rollout(model, s) for _ in range(8)) for s in scenarios)
    )
    groups = [
        art.TrajectoryGroup(rescored(t, len(group)) for t in group)  # <-
        for group in finished
    ]
    await backend.train(model, groups)
""",
)
GOOD = (
    """\
import art

def best(group):
    kept = art.TrajectoryGroup([t for t in group.trajectories if t.reward > 0], metadata={})
    kept.exceptions = group.exceptions
    return kept
""",
)


COPYING = ("list", "sorted", "filter", "tuple")


def check(code: Code) -> Iterator[Found]:
    if ".exceptions" in code.source.text:
        return
    for call in code.art_calls("TrajectoryGroup"):
        given = first_argument(call, "trajectories")
        if given is None or len(given_to(call)) > 1:
            continue
        if _is_taken_from_a_group(code, call, given):
            yield found(call, "the rebuilt group loses its exceptions and metadata")


def _is_taken_from_a_group(code: Code, call: ast.Call, given: ast.expr) -> bool:
    """Return whether trajectories come from another group: its list, or the group itself.

    That is ``group.trajectories``, ``[t for t in group if ...]``, or a list to which a loop
    over a group adds.
    """
    gathered = set(code.art_calls("gather_trajectory_groups"))
    for value in code.values(given):
        node = value.node
        if isinstance(node, ast.Call) and last_name(node.func) in COPYING and node.args:
            if _is_taken_from_a_group(code, call, node.args[-1]):
                return True
        elif isinstance(node, ast.ListComp | ast.GeneratorExp):
            (first, *_) = node.generators
            names = {*bound_names([first.target])}
            made = node.elt if isinstance(node.elt, ast.Call) else None
            parts = [node.elt] if made is None else given_to(made)
            same = any(isinstance(e, ast.Name) and e.id in names for e in parts)
            if same and _is_group(code, first.iter, gathered):
                return True
        elif _is_group(code, node, gathered):
            return True
    return isinstance(given, ast.Name) and any(
        dotted(grown) == given.id
        and isinstance(loop := code.syntax.enclosing_loop(each), ast.For)
        and each.args
        and (dotted(each.args[0]) or "") in bound_names([loop.target])
        and _is_group(code, loop.iter, gathered)
        for each, grown in code.method_calls("append")
        if code.syntax.owner(each) == code.syntax.owner(call)
    )


def _is_group(code: Code, group: ast.expr, gathered: set[ast.Call]) -> bool:
    """Return whether it is a group's list, or a name that goes through gathered groups."""
    if isinstance(group, ast.Attribute):
        return group.attr == "trajectories"
    if not isinstance(group, ast.Name):
        return False
    return any(
        isinstance(outer, ast.For | ast.ListComp | ast.GeneratorExp)
        and any(
            group.id in bound_names([each.target])
            and any(value.node in gathered for value in code.values(each.iter))
            for each in ([outer] if isinstance(outer, ast.For) else outer.generators)
        )
        for outer in code.syntax.ancestors(group)
    )
