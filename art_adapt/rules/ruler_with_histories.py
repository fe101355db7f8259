"""RULER is given trajectories with additional histories

``ruler_score_group`` raises on ``additional_histories``, also with ``swallow_exceptions=True``;
as ``after_each`` of a gather, which absorbs nothing of it, that ends the run.

Call the lower ``art.rewards.ruler`` on the main conversation of each trajectory, as the train
modules of art-adapt do.

Written down in: art 0.5.18, rewards/ruler.py:309-312; art 0.5.23, rewards/ruler.py:374-377.
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
            "ruler_score_group raises on additional histories, whatever it is told to "
            "swallow: use art.rewards.ruler",
        )
