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
    """\
import art

def failed(t):
    return isinstance(t, BaseException)

async def all_or_none(model, tasks):
    found = await art.gather_trajectories((solve(model, t) for t in tasks), max_exceptions=4)
    errors = [t for t in found if isinstance(t, BaseException)]
    if errors:
        raise errors[0]
    return sum(t.reward for t in found) / len(found)

async def by_helper(model, tasks):
    found = await art.gather_trajectories((solve(model, t) for t in tasks), max_exceptions=4)
    return sum(t.reward for t in found if not failed(t))

async def matched(model, tasks):
    found = await art.gather_trajectories((solve(model, t) for t in tasks), max_exceptions=4)
    for t in found:
        match t:
            case art.Trajectory():
                print(t.reward)
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
        if _tells_apart(code, each) or any(_asks(node, target.id) for node in around):
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


def _tells_apart(code: Code, loop: ast.AST) -> bool:
    """Return whether the function around a loop asks for the class of anything."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("isinstance", "hasattr", "getattr", "type")
        for node in code.syntax.owned_by(code.syntax.owner(loop))
    )


def _asks(node: ast.AST, name: str) -> bool:
    """Return whether a test, or ``match``, is about a trajectory as a whole: ``if failed(t)``."""
    tests: list[ast.expr] = []
    if isinstance(node, ast.If | ast.IfExp | ast.Assert):
        tests = [node.test]
    elif isinstance(node, ast.comprehension):
        tests = node.ifs
    elif isinstance(node, ast.Match):
        tests = [node.subject]
    asked = [each for test in tests for each in ast.walk(test)]
    read = {each.value for each in asked if isinstance(each, ast.Attribute)}
    return any(
        isinstance(each, ast.Name) and each.id == name and each not in read
        for each in asked
    )
