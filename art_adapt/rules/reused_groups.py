"""Groups are built once and gathered in every turn of a loop, so the second gather raises

``art.TrajectoryGroup(rollout(...) for ...)`` holds coroutines that have not run. A coroutine
runs once: when the same groups are gathered again, ART raises a RuntimeError, whatever
``max_exceptions`` allows, after the first step has been paid for.

Build the groups inside the loop.

Evidence: art 0.5.18 and 0.5.23, gather.py (``gather_trajectory_groups`` awaits each group).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import first_argument
from art_adapt.rules.code import Code
from art_adapt.rules.code.training import makes_group
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART541", "reused-groups", Severity.WASTE)
BAD = (
    """\
import art

async def main(model, backend, scenarios):
    groups = [art.TrajectoryGroup(rollout(model, s) for _ in range(4)) for s in scenarios]
    for _ in range(10):
        done = await art.gather_trajectory_groups(groups, max_exceptions=9)  # <-
        await backend.train(model, done)
""",
    """\
import art

async def main(model, backend, scenarios):
    groups = []
    for s in scenarios:
        groups.append(art.TrajectoryGroup(rollout(model, s) for _ in range(4)))
    while await model.get_step() < 10:
        done = await art.gather_trajectory_groups(groups=groups)  # <-
        await backend.train(model, done)
""",
)
GOOD = (
    """\
import art

async def main(model, backend, scenarios):
    for _ in range(10):
        groups = [art.TrajectoryGroup(rollout(model, s) for _ in range(4)) for s in scenarios]
        done = await art.gather_trajectory_groups(groups)
        await backend.train(model, done)

async def once(model, backend, scenarios):
    groups = [art.TrajectoryGroup(rollout(model, s) for _ in range(4)) for s in scenarios]
    for _ in range(10):
        done = await art.gather_trajectory_groups(groups)
        await backend.train(model, done)
        groups = [art.TrajectoryGroup(rollout(model, s) for _ in range(4)) for s in scenarios]

async def emptied(model, scenarios):
    groups = [art.TrajectoryGroup(rollout(model, s) for _ in range(4)) for s in scenarios]
    for _ in range(10):
        await art.gather_trajectory_groups(groups)
        groups.clear()
        groups.extend(fresh(model, scenarios))

async def only_one(model, scenarios, tries):
    groups = [art.TrajectoryGroup(rollout(model, s) for _ in range(4)) for s in scenarios]
    for _ in range(tries):
        return await art.gather_trajectory_groups(groups)
""",
)


def check(code: Code) -> Iterator[Found]:
    for gather in code.art_calls("gather_trajectory_groups"):
        groups = first_argument(gather, "groups")
        loop = code.syntax.enclosing_loop(gather)
        if not isinstance(groups, ast.Name) or loop is None or _may_end(loop):
            continue
        inside = set(ast.walk(loop))
        written = [
            node
            for node in code.syntax.owned_by(code.syntax.owner(gather))
            if isinstance(node, ast.Name)
            and node.id == groups.id
            and (isinstance(node.ctx, ast.Store) or _is_changed(code, node))
            and (isinstance(node.ctx, ast.Store) or node in inside)
        ]
        held = list(code.contents.elements(groups))
        if (
            written
            and inside.isdisjoint(written)
            and held
            and all(makes_group(each) and each.node not in inside for each in held)
        ):
            yield found(
                groups,
                "these groups are built once, and their coroutines run once: the second "
                "turn of the loop raises a RuntimeError; build them inside the loop",
            )


def _may_end(loop: ast.AST) -> bool:
    """Return whether a loop may have one turn only."""
    once = isinstance(loop, ast.For) and ast.unparse(loop.iter) == "range(1)"
    return once or any(
        isinstance(node, ast.Return | ast.Break) for node in ast.walk(loop)
    )


def _is_changed(code: Code, name: ast.Name) -> bool:
    """Return whether a method of a list is called, or a part of it is set."""
    around = code.syntax.parents[name]
    return isinstance(around, ast.Attribute) or (
        isinstance(around, ast.Subscript) and not isinstance(around.ctx, ast.Load)
    )
