"""No reward is ever set, so every group is tied and nothing is learned

A reward that is never set is 0.0, without a warning. All episodes of a group are then equal,
no group has an advantage, and every step advances with nothing learned.

Set ``trajectory.reward`` in the rollout, or let RULER score the groups.

Evidence: art 0.5.18, trajectories.py:42; art 0.5.23, trajectories/__init__.py:617; in both,
preprocessing/tokenize.py (groups without variance are dropped).
"""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import LOOP, Found, Rule, Severity, found

RULE = Rule("ART301", "missing-reward", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[])  # <-
    return trajectory
"""
    + LOOP,
)
GOOD = (
    BAD[0]
    .replace("  # <-", "")
    .replace(
        "    return t", "    trajectory.reward = 1.0 * len(scenario)\n    return t"
    ),
    BAD[0]
    .replace("  # <-", "")
    .replace(
        "  await b",
        "  groups = [await ruler_score_group(g) for g in groups]\n    await b",
    ),
    "import art\n\nasync def rollout(model, scenario):\n    return art.Trajectory(messages_and_choices=[])\n",
)


def check(code: Code) -> Iterator[Found]:
    if not code.training.whole_loop or code.rewards.may_be_set:
        return
    yield found(
        (*code.trajectories.new, *code.recording_calls)[0],
        "no reward is ever set: every episode gets 0.0, and no group has an advantage",
    )
