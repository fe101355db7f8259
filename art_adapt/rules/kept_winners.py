"""Only the episodes with a high reward stay in a group, so failing is never punished

GRPO compares the episodes of a group with each other. A group of winners has no bad example, and if
all have the same reward it has no variance, and ART drops it.

Train on the whole group. A group in which all episodes have the same reward may be left out as one.

Evidence: art 0.5.18, preprocessing/tokenize.py:247-257; art 0.5.23,
preprocessing/tokenize.py:762-778 (the advantage is relative to the group's mean).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import dotted, first_argument, last_name
from art_adapt.rules.code import Code, Value
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART321", "kept-winners", Severity.GARBAGE)
BAD = (
    """\
import art
from operator import attrgetter

worth = attrgetter("reward")

async def winners(group: art.TrajectoryGroup):
    good = list(filter(worth, group.trajectories))
    return art.TrajectoryGroup(good, metadata=group.metadata) if good else None  # <-

async def best(group: art.TrajectoryGroup):
    return art.TrajectoryGroup([t for t in group.trajectories if t.reward >= 0.5])  # <-

async def step(model, backend, groups):
    done = await art.gather_trajectory_groups(groups, after_each=winners)
    more = await art.gather_trajectory_groups(groups, after_each=best)
    await backend.train(model, [*done, *more])
""",
    """\
import art

async def step(model, backend, groups):
    won = [art.TrajectoryGroup([t for t in g.trajectories if t.reward == 1.0]) for g in groups]  # <-
    lost = [art.TrajectoryGroup([t for t in g if t.reward != 1.0]) for g in groups]
    await backend.train(model, won + lost)
""",
    """\
import art

async def step(model, backend, groups):
    done = await art.gather_trajectory_groups(groups)
    right = [art.TrajectoryGroup([t for t in g if t.reward == 1.0]) for g in done]  # <-
    some = [art.TrajectoryGroup(filter(lambda t: t.reward > 0, g)) for g in done]  # <-
    await backend.train(model, right + some)
""",
    """\
import art, asyncio

async def attempts(model, attempt, clue):
    results = await asyncio.gather(*(attempt(model, clue) for _ in range(8)), return_exceptions=True)
    failed = [r for r in results if isinstance(r, BaseException)]
    solved = [r for r in results if isinstance(r, art.Trajectory) and r.reward >= 1.0]
    return art.TrajectoryGroup(solved, exceptions=failed)  # <-
""",
)
GOOD = (
    """\
import art

async def whole(group: art.TrajectoryGroup):
    return group if len({t.reward for t in group}) > 1 else None

async def sound(group: art.TrajectoryGroup):
    return art.TrajectoryGroup([t for t in group.trajectories if not t.metrics.get("broken")])

async def step(model, backend, groups):
    done = await art.gather_trajectory_groups(groups, after_each=whole)
    more = await art.gather_trajectory_groups(groups, after_each=sound)
    await backend.train(model, [*done, *more])

async def gathered(results):
    ended = [r for r in results if isinstance(r, art.Trajectory) and r.metrics["turns"] > 0]
    return art.TrajectoryGroup(ended)

def show(groups):
    wins = [art.TrajectoryGroup([t for t in g if t.reward > 0]) for g in groups]
    print(sum(map(len, wins)))
""",
)


def check(code: Code) -> Iterator[Found]:
    for call in code.art_calls("TrajectoryGroup"):
        given = first_argument(call, "trajectories")
        values = code.values(given) if given is not None else ()
        if any(_chooses(code, each) for each in values) and _may_be_trained(code, call):
            yield found(
                call,
                "only episodes with a high reward stay in this group, so failing is never "
                "punished, and equal rewards teach nothing: train on the whole group",
            )


def _may_be_trained(code: Code, group: ast.Call) -> bool:
    """Return whether a group is trained, or comes back from a callback or a helper of its own."""
    if "train_sft" in code.source.text:
        return False
    callbacks = {c.body.function.qualname for c in code.callbacks if c.body is not None}
    return (
        group in code.training.groups
        or code.syntax.owner(group) in callbacks
        or not code.training.calls
    )


def _chooses(code: Code, members: Value) -> bool:
    """Return whether the members of a group are chosen by their rewards."""
    match members.node:
        case (
            ast.ListComp(elt=ast.Name(id=kept), generators=[*_, last])
            | ast.GeneratorExp(elt=ast.Name(id=kept), generators=[*_, last])
        ):
            is_one = dotted(last.target) == kept
            return is_one and any(_is_high(code, test, kept) for test in last.ifs)
        case ast.Call(func=ast.Name("filter"), args=[function, _]):
            made = [each.node for each in code.values(members.of(function))]
            return any(_is_of_reward(code, each) for each in made)
    return False


def _is_of_reward(code: Code, function: ast.expr) -> bool:
    """Return whether a function asks whether a trajectory has a high reward."""
    match function:
        case ast.Lambda(args=ast.arguments(args=[only]), body=test):
            return _is_high(code, test, only.arg)
        case ast.Call(func=named, args=[ast.Constant("reward")]):
            return last_name(named) == "attrgetter"
    return False


def _is_high(code: Code, test: ast.expr, kept: str) -> bool:
    """Return whether a test is ``trajectory.reward``, or compares that with a number below it."""
    match test:
        case ast.BoolOp(op=ast.And(), values=tests):
            return any(_is_high(code, each, kept) for each in tests)
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            sides = []
            if isinstance(operator, ast.Gt | ast.GtE | ast.Eq):
                sides.append((left, right))
            if isinstance(operator, ast.Lt | ast.LtE | ast.Eq):
                sides.append((right, left))
            return any(
                dotted(reward) == f"{kept}.reward"
                and isinstance(code.constant(number), int | float)
                for reward, number in sides
            )
    return dotted(test) == f"{kept}.reward"
