"""One failing rollout ends the run

``gather_trajectory_groups`` allows no exception unless it is told: one timeout raises out of
the whole gather, and the step's other rollouts are lost with it.

``max_exceptions=rollouts_per_group * len(batch.items)``.

Written down in: art 0.5.18, gather.py:14; art 0.5.23, gather.py:15.
"""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.syntax import keyword

RULE = Rule("ART505", "missing-max-exceptions", Severity.UNTIDY)
BAD = (
    """\
import art

async def step(groups):
    return await art.gather_trajectory_groups(groups)  # <-
""",
)
GOOD = (
    """\
import art

async def step(groups, size):
    return await art.gather_trajectory_groups(groups, max_exceptions=size)
""",
)


def check(code: Code) -> Iterator[Found]:
    for call in code.art_calls("gather_trajectory_groups"):
        given = keyword(call, "max_exceptions")
        if given is None and all(each.arg is not None for each in call.keywords):
            yield found(
                call.func, "without max_exceptions one failing rollout ends the run"
            )
