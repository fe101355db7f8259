"""RULER gets trajectories with additional histories, so ruler_score_group raises

``ruler_score_group`` raises on ``additional_histories``, even with
``swallow_exceptions=True``. As ``after_each`` of a gather, which does not absorb that error,
it ends the run.

Call the lower-level ``art.rewards.ruler`` on the main conversation of each trajectory, as
art-adapt's train modules do.

Evidence: art 0.5.18, rewards/ruler.py:309-312; art 0.5.23, rewards/ruler.py:374-377.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART517", "ruler-with-histories", Severity.WASTE)
BAD = (
    """\
import art
from art.rewards import ruler_score_group

async def rollout(model):
    trajectory = art.Trajectory()
    trajectory.additional_histories.append(art.trajectories.History(messages_and_choices=[]))
    return trajectory

async def score(group):
    return await ruler_score_group(group, "openai/o3")  # <-
""",
)
GOOD = (
    """\
import art
from art.rewards import ruler

async def rollout(model):
    trajectory = art.Trajectory()
    trajectory.additional_histories.append(art.trajectories.History(messages_and_choices=[]))
    return trajectory

async def score(group):
    return await ruler([t.messages() for t in group.trajectories])
""",
)


def check(code: Code) -> Iterator[Found]:
    adds = any(
        isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Attribute)
        and call.func.value.attr == "additional_histories"
        for call in code.method_calls("append", "extend")
    )
    for call in code.art_calls("ruler_score_group") if adds else ():
        yield found(
            call,
            "ruler_score_group raises on additional histories, even with "
            "swallow_exceptions=True: use art.rewards.ruler",
        )
