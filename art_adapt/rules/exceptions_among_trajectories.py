"""gather_trajectories gives failed rollouts back as exceptions, which have no reward

With ``max_exceptions``, ``gather_trajectories`` returns a list in which each failed rollout is its
exception. The first ``.reward`` or ``.metrics`` of one raises AttributeError, after all rollouts
have been paid for. (``gather_trajectory_groups`` keeps them apart, as ``group.exceptions``.)

Leave them out: ``[t for t in found if isinstance(t, art.Trajectory)]``.

Evidence: art 0.5.18, gather.py:159-180 (``list[Trajectory | BaseException]``); art 0.5.23,
gather.py (gather_trajectories).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import keyword
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART548", "exceptions-among-trajectories", Severity.WASTE)
BAD = (
    """\
import art

async def measure(model, tasks):
    found = await art.gather_trajectories((solve(model, t) for t in tasks), max_exceptions=4)
    print(max(t.metrics["turns"] for t in found))  # <-
    return sum(t.reward for t in found) / len(found)  # <-
""",
    """\
import art

async def measure(model, tasks, allowed):
    for trajectory in await art.gather_trajectories(
        [solve(model, t) for t in tasks], max_exceptions=allowed * len(tasks)
    ):
        print(trajectory.reward)  # <-
""",
)
GOOD = (
    """\
import art

async def measure(model, tasks):
    found = await art.gather_trajectories((solve(model, t) for t in tasks), max_exceptions=4)
    kept = [t for t in found if isinstance(t, art.Trajectory)]
    print(sum(t.reward for t in found if not isinstance(t, BaseException)))
    for trajectory in found:
        if isinstance(trajectory, Exception):
            continue
        print(trajectory.reward)
    return sum(t.reward for t in kept)

async def strictly(model, tasks):
    found = await art.gather_trajectories((solve(model, t) for t in tasks), max_exceptions=0)
    return sum(t.reward for t in found)

async def grouped(model, tasks):
    groups = await art.gather_trajectory_groups(
        (art.TrajectoryGroup(solve(model, t) for _ in range(4)) for t in tasks), max_exceptions=4
    )
    return sum(t.reward for group in groups for t in group)
""",
)
OF_TRAJECTORIES = ("reward", "metrics", "messages_and_choices", "metadata", "messages")


def check(code: Code) -> Iterator[Found]:
    allowing = {
        call
        for call in code.art_calls("gather_trajectories")
        if (given := keyword(call, "max_exceptions")) is not None
        and code.constant(given) != 0
    }
    for each in code.syntax.nodes if allowing else ():
        if isinstance(each, ast.For | ast.AsyncFor):
            target, through, around = each.target, each.iter, list(ast.walk(each))
        elif isinstance(each, ast.ListComp | ast.GeneratorExp | ast.SetComp):
            first = each.generators[0]
            target, through, around = first.target, first.iter, list(ast.walk(each))
        else:
            continue
        made = [value.node for value in code.values(through)]
        if (
            not isinstance(target, ast.Name)
            or not made
            or not allowing.issuperset(made)
        ):
            continue
        if any(_asks_for_its_class(node, target.id) for node in around):
            continue
        read = [
            node
            for node in around
            if isinstance(node, ast.Attribute) and _reads(node, target.id)
        ]
        if read and not code.is_caught(read[0]):
            yield found(
                read[0],
                "this may be the exception of a failed rollout, which max_exceptions keeps in "
                "the list: leave out what is no art.Trajectory",
            )


def _reads(node: ast.Attribute, name: str) -> bool:
    return (
        node.attr in OF_TRAJECTORIES
        and isinstance(node.value, ast.Name)
        and node.value.id == name
    )


def _asks_for_its_class(node: ast.AST, name: str) -> bool:
    """Return whether it is ``isinstance(t, ...)``, ``hasattr(t, ...)`` or ``getattr(t, ...)``."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("isinstance", "hasattr", "getattr", "type")
        and bool(node.args)
        and isinstance(node.args[0], ast.Name)
        and node.args[0].id == name
    )
