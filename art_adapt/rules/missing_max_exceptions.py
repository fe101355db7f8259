"""max_exceptions is missing, so one failed rollout ends the run

By default ``gather_trajectory_groups`` tolerates no exception: one timeout is raised out of
the whole gather, and the other rollouts of the step are lost with it.

Pass ``max_exceptions=rollouts_per_group * len(batch.items)``.

Evidence: art 0.5.18, gather.py:14; art 0.5.23, gather.py:15.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import first_argument
from art_adapt.rules.code import Code
from art_adapt.rules.code.failures import catches_all, keeps_failures
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART505", "missing-max-exceptions", Severity.WASTE)
BAD = (
    """\
import art

async def train(model, backend, rows, rollout):
    for step in range(await model.get_step(), 50):
        groups = await art.gather_trajectory_groups(  # <-
            art.TrajectoryGroup(rollout(model, row) for _ in range(8)) for row in rows
        )
        await backend.train(model, groups)
""",
    """\
import art

async def train(model, backend, rows, rollout):
    for step in range(await model.get_step(), 50):
        groups = await art.gather_trajectory_groups(
            (art.TrajectoryGroup(rollout(model, row) for _ in range(8)) for row in rows),
            max_exceptions=0,  # <-
        )
        await backend.train(model, groups)
""",
    """\
import art, asyncio

async def train(model, backend, rows, rollout):
    options = {"pbar_desc": "step", "max_metrics": 4}
    for step in range(await model.get_step(), 50):
        groups = await art.gather_trajectory_groups(  # <-
            [art.TrajectoryGroup(rollout(model, row) for _ in range(8)) for row in rows], **options
        )
        await backend.train(model, groups)
""",
    """\
import art, asyncio

async def group_of(model, row, rollout, others):
    tried = [rollout(model, row) for _ in range(8)]
    await asyncio.gather(*others, return_exceptions=True)
    return art.TrajectoryGroup([await each for each in tried])

async def train(model, backend, rows, rollout):
    for step in range(await model.get_step(), 50):
        groups = await art.gather_trajectory_groups([group_of(model, r, rollout) for r in rows])  # <-
        await backend.train(model, groups)
""",
    """\
import art

async def safe(model, row, rollout, limiter):
    await limiter.acquire()
    try:
        return await rollout(model, row)
    except Exception as error:
        print(error)
        return None

async def train(model, backend, rows, rollout, limiter):
    for step in range(await model.get_step(), 50):
        groups = await art.gather_trajectory_groups(  # <-
            art.TrajectoryGroup(safe(model, row, rollout, limiter) for _ in range(8)) for row in rows
        )
        await backend.train(model, groups)
""",
)
GOOD = (
    """\
import art

async def train(model, backend, rows, rollout, more):
    options = {"pbar_desc": "step"}
    options["max_exceptions"] = 64
    for step in range(await model.get_step(), 50):
        groups = [art.TrajectoryGroup(rollout(model, row) for _ in range(8)) for row in rows]
        groups = await art.gather_trajectory_groups(groups, **options)
        await art.gather_trajectory_groups(groups, **more)
        await backend.train(model, groups)
""",
    """\
import art

async def safe(model, row, rollout):
    try:
        return await rollout(model, row)
    except Exception as error:
        print(error)
        return None

async def train(model, backend, rows, rollout):
    for step in range(await model.get_step(), 50):
        groups = await art.gather_trajectory_groups(
            art.TrajectoryGroup(safe(model, row, rollout) for _ in range(8)) for row in rows
        )
        await backend.train(model, groups)
""",
    """\
import art

async def train(model, backend, rows, rollout):
    groups = await art.gather_trajectory_groups([])
    for step in range(await model.get_step(), 50):
        groups = await art.gather_trajectory_groups(
            (art.TrajectoryGroup(rollout(model, row) for _ in range(8)) for row in rows),
            max_exceptions=8 * len(rows),
        )
        try:
            val = await art.gather_trajectory_groups([])
        except Exception as error:
            print(error)
        await backend.train(model, groups)
""",
    """\
import art, asyncio

async def group_of(model, row, rollout):
    tried = [rollout(model, row) for _ in range(8)]
    return art.TrajectoryGroup(await asyncio.gather(*tried, return_exceptions=True))

async def train(model, backend, rows, rollout):
    for step in range(await model.get_step(), 50):
        groups = await art.gather_trajectory_groups([group_of(model, r, rollout) for r in rows])
        await backend.train(model, groups)
""",
)


def check(code: Code) -> Iterator[Found]:
    for call in code.art_calls("gather_trajectory_groups"):
        given = code.contents.given(call, "max_exceptions")
        allowed = 0 if given is None else code.constant(given)
        if (
            allowed == 0
            and not code.contents.may_give(call, "max_exceptions")
            and code.training.may_end(call)
            and not _is_safe(code, call)
            and not _never_fails(code, call)
        ):
            without = "without max_exceptions" if given is None else "with this"
            yield found(
                given or call.func,
                f"{without}, one failed rollout ends the run, and the others "
                "of the step are lost",
            )


def _never_fails(code: Code, gather: ast.Call) -> bool:
    """Return whether each rollout is a function that catches whatever it raises."""
    groups = first_argument(gather, "groups")
    made = [] if groups is None else list(code.contents.elements(groups))
    rollouts = [
        each
        for group in made
        if isinstance(group.node, ast.Call)
        and (trajectories := first_argument(group.node, "trajectories")) is not None
        for each in code.contents.elements(group.of(trajectories))
    ]
    bodies = [
        code.flow.functions.called(each.syntax, each.node.func)
        if isinstance(each.node, ast.Call)
        else None
        for each in rollouts
    ]
    return bool(bodies) and all(b is not None and catches_all(b[1]) for b in bodies)


def _is_safe(code: Code, gather: ast.Call) -> bool:
    """Return whether functions make all groups that keep what fails as exceptions."""
    groups = first_argument(gather, "groups")
    held = [] if groups is None else list(code.contents.elements(groups))
    made_by = (
        code.flow.functions.called(each.syntax, each.node.func)
        if isinstance(each.node, ast.Call)
        else None
        for each in held
    )
    return bool(held) and all(
        found is not None and keeps_failures(*found) for found in made_by
    )
