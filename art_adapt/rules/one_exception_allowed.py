"""max_exceptions=1.0 allows one exception, not all of them, so the second ends the run

A number below 1 is a share of the rollouts; 1 and 1.0 both mean one exception. The second
timeout ends the run.

Pass ``max_exceptions=rollouts_per_group * len(batch.items)``.

Evidence: art 0.5.18, gather.py (GatherContext.too_many_exceptions); art 0.5.23,
gather.py:260-267.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import keyword
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART506", "one-exception-allowed", Severity.WASTE)
BAD = (
    """\
import art

async def step(groups):
    return await art.gather_trajectory_groups(groups, max_exceptions=1.0)  # <-
""",
    """\
import art
from typing import NamedTuple

class Settings(NamedTuple):
    rollouts: int = 6
    tolerated: float = 1.0

ALL = 1.0

async def step(groups, settings: Settings = Settings()):
    return await art.gather_trajectory_groups(groups, max_exceptions=settings.tolerated)  # <-

async def again(groups):
    return await art.gather_trajectory_groups(groups, max_exceptions=ALL)  # <-
""",
)
GOOD = (
    BAD[0].replace("1.0)  # <-", "0.5)"),
    BAD[0].replace("1.0)  # <-", "1)"),
    BAD[1].replace("1.0", "0.9").replace("  # <-", ""),
)


def check(code: Code) -> Iterator[Found]:
    for call in code.art_calls("gather_trajectory_groups"):
        given = keyword(call, "max_exceptions")
        values = () if given is None else code.values(given)
        if given is not None and any(_is_all(each.node) for each in values):
            yield found(
                given,
                "1.0 means one exception, not all: the second failed rollout ends the run",
            )


def _is_all(share: ast.expr) -> bool:
    return isinstance(share, ast.Constant) and repr(share.value) == "1.0"
