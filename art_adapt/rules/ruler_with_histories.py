"""RULER gets trajectories with additional histories, so ruler_score_group raises

``ruler_score_group`` raises on ``additional_histories``, even with
``swallow_exceptions=True``. As ``after_each`` of a gather, which does not absorb that error,
it ends the run.

Call the lower-level ``art.rewards.ruler`` on the main conversation of each trajectory, as
art-adapt's train modules do.

A rollout that ``art.langgraph.wrap_rollout`` wraps has them as soon as it holds a second
conversation, as a planner's beside a writer's.

Evidence: art 0.5.18, rewards/ruler.py:309-312, langgraph/llm_wrapper.py
(create_messages_from_logs); art 0.5.23, rewards/ruler.py:374-377.
"""

from __future__ import annotations

import ast
import itertools
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
    """\
import art
from art.langgraph import init_chat_model, wrap_rollout
from art.rewards import ruler_score_group

async def rollout(model, scenario):
    plan = await init_chat_model().ainvoke([{"role": "user", "content": f"Plan: {scenario}"}])
    await init_chat_model().ainvoke([{"role": "user", "content": plan.content}])
    return art.Trajectory(messages_and_choices=[], reward=0.0)

async def group_of(model, scenario):
    run = wrap_rollout(model, rollout)
    group = art.TrajectoryGroup([await run(model, scenario) for _ in range(4)])
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
        isinstance(grown, ast.Attribute) and grown.attr == "additional_histories"
        for _, grown in code.method_calls("append", "extend")
    )
    if not (adds or _talks_twice(code)):
        return
    for call in code.art_calls("ruler_score_group"):
        yield found(
            call,
            "ruler_score_group raises on additional histories, even with "
            "swallow_exceptions=True: use art.rewards.ruler",
        )


def _talks_twice(code: Code) -> bool:
    """Return whether a wrapped rollout makes two chat models: two conversations, two histories.

    ``wrap_rollout`` puts the first on the trajectory, and each other one beside it.
    """
    wrapped = {function.qualname for function in code.wrapped_rollouts}
    made = list(code.art_calls("init_chat_model"))
    return any(
        code.syntax.owner(one) == code.syntax.owner(other)
        and code.syntax.owner(one).partition(".")[0] in wrapped
        and not code.blocks.exclude(one, other)
        for one, other in itertools.combinations(made, 2)
    )
