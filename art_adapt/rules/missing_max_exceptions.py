"""max_exceptions is missing, so one failed rollout ends the run

By default ``gather_trajectory_groups`` tolerates no exception: one timeout is raised out of
the whole gather, and the other rollouts of the step are lost with it.

Pass ``max_exceptions=rollouts_per_group * len(batch.items)``.

Evidence: art 0.5.18, gather.py:14; art 0.5.23, gather.py:15.
"""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.code.nodes import keyword
from art_adapt.rules.code import Code
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
)
GOOD = (
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
)


def check(code: Code) -> Iterator[Found]:
    for call in code.art_calls("gather_trajectory_groups"):
        given = keyword(call, "max_exceptions")
        if (
            given is None
            and all(each.arg is not None for each in call.keywords)
            and code.training.may_end(call)
        ):
            yield found(
                call.func,
                "without max_exceptions, one failed rollout ends the run, and the others "
                "of the step are lost",
            )
