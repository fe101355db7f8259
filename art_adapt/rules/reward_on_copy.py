"""A reward is set on a copy of a trajectory that nothing keeps, so it is never trained on

``model_copy``, ``copy`` and ``deepcopy`` make another trajectory. A loop that binds its variable
to the copy leaves the group as it was: training uses the reward that the original has.

Set ``trajectory.reward`` on the trajectory itself, or put the copy into ``group.trajectories``.

Evidence: Python, for statements (assigning to the target does not change the list); art 0.5.18,
preprocessing/tokenize.py:247-258; art 0.5.23, preprocessing/tokenize.py:762-779 (the group's own
trajectories are read).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import keyword, last_name
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART314", "reward-on-copy", Severity.GARBAGE)
BAD = (
    """\
import art

async def settle(group: art.TrajectoryGroup):
    for trajectory in group:
        trajectory = trajectory.model_copy(update={"reward": trajectory.reward - 0.1})  # <-
        trajectory.metrics["penalty"] = 0.1
    return group
""",
    """\
import art, copy

async def settle(group: art.TrajectoryGroup):
    scaled = copy.deepcopy(group)  # <-
    for trajectory in scaled.trajectories:
        trajectory.reward /= 2
    return group
""",
)
GOOD = (
    """\
import art

async def settle(group: art.TrajectoryGroup):
    group.trajectories = [
        trajectory.model_copy(update={"reward": trajectory.reward - 0.1})
        for trajectory in group
    ]
    return group
""",
    BAD[1].replace("  # <-", "").replace("return group", "return scaled"),
    """\
import art, copy

async def show(group: art.TrajectoryGroup):
    for trajectory in group:
        shown = trajectory.model_copy(update={"reward": round(trajectory.reward, 2)})
        print(shown)
    return group
""",
)
COPYING = ("copy", "deepcopy", "model_copy")


def check(code: Code) -> Iterator[Found]:
    for call in code.calls:
        if last_name(call.func) not in COPYING:
            continue
        use = code.uses.of(call)
        if (use.is_lost and not use.is_shown) and (
            _updates_reward(code, call)
            or any(each.attr == "reward" for each in use.written)
        ):
            yield found(
                call,
                "the reward is set on a copy that nothing keeps: the group is trained with "
                "the old one; set trajectory.reward",
            )


def _updates_reward(code: Code, call: ast.Call) -> bool:
    """Return whether ``model_copy`` gives the copy a reward."""
    update = keyword(call, "update")
    return update is not None and bool(code.contents.item(update, "reward").values)
