"""The reward is computed before the last turn, which is then trained with it

A turn that is sampled after the reward was set is trained with a reward that does not depend
on it: the last turn, usually the answer, is reinforced or punished for what came before.

Set the reward when the episode has ended.

Evidence: the order in which Python runs the statements. ART trains every choice of a
trajectory with its one final reward (art 0.5.18, preprocessing/tokenize.py:160-170).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import dotted, given_to, targets_of
from art_adapt.rules.code import Code, Put, RewardWrite, below
from art_adapt.rules.rule import LOOP, Found, Rule, Severity, found

RULE = Rule("ART311", "early-reward", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    name = model.get_inference_name()
    first = await client.chat.completions.create(model=name, messages=messages)
    trajectory.messages_and_choices.append(first.choices[0])
    trajectory.reward = score(trajectory)  # <-
    trajectory.messages_and_choices.append({"role": "user", "content": "Sum it up."})
    last = await client.chat.completions.create(model=name, messages=trajectory.messages())
    trajectory.messages_and_choices.append(last.choices[0])
    return trajectory
""",
    """\
import art

async def rollout(client, model, game):
    trajectory = art.Trajectory(reward=game.score())  # <-
    while not game.over:
        reply = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages()
        )
        trajectory.messages_and_choices.append(reply.choices[0])
        game.play(reply.choices[0].message.content)
    return trajectory
"""
    + LOOP,
)
GOOD = (
    BAD[0]
    .replace("    trajectory.reward = score(trajectory)  # <-\n", "")
    .replace("    return", "    trajectory.reward = score(trajectory)\n    return"),
    BAD[0]
    .replace("  # <-", "")
    .replace("    return", "    trajectory.reward += brief(trajectory)\n    return"),
    BAD[0]
    .replace("  # <-", "")
    .replace(
        "    return", "    if bad(last):\n        trajectory.reward = 0.0\n    return"
    ),
    BAD[0]
    .replace("  # <-", "")
    .replace("    return", "    judge(trajectory)\n    return"),
    BAD[1].replace("  # <-", "").replace(LOOP, ""),
    BAD[0]
    .replace("  # <-", "")
    .replace(
        "    trajectory.reward", "    if blocked(first):\n        trajectory.reward"
    ),
    """\
import art

async def rollout(client, model, game):
    trajectory = art.Trajectory()
    while not game.over:
        trajectory.reward = game.score()
        reply = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages()
        )
        trajectory.messages_and_choices.append(reply.choices[0])
        game.play(reply.choices[0].message.content)
    return trajectory
""",
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    if is_spam(messages):
        trajectory.reward = penalty(messages)
        return trajectory
    reply = await client.chat.completions.create(
        model=model.get_inference_name(), messages=messages
    )
    trajectory.messages_and_choices.append(reply.choices[0])
    return trajectory
""",
)


def check(code: Code) -> Iterator[Found]:
    write = max(code.rewards.writes, key=lambda each: each.node.lineno, default=None)
    if write is None or code.constant(write.value) is not ...:
        return
    if not _is_only_one(code, write):
        return  # the reward may be set again
    put = _sampled_later(code, write)
    if put is not None:
        yield found(
            write.value if write.constructs else write.node,
            f"the turn of line {put.at.lineno} is sampled after this reward is computed, "
            "but trained with it",
        )


def _is_only_one(code: Code, write: RewardWrite) -> bool:
    """Return whether all other rewards are initial values set in the same function.

    A reward passed to a constructor may be replaced wherever the rollouts are used.
    """
    owner = code.syntax.owner(write.node)
    if code.rewards.has_other_writes or code.rewards.may_be_set_elsewhere:
        return False
    if write.constructs and not code.training.whole_loop:
        return False
    return not any(code.art_calls("ruler_score_group")) and all(
        other is write
        or (
            code.syntax.owner(other.node) == owner
            and code.constant(other.value) is not ...
        )
        for other in code.rewards.writes
    )


def _sampled_later(code: Code, write: RewardWrite) -> Put | None:
    """Return the first choice that is certainly sampled after the reward is set."""
    name = _trajectory(code, write)
    if name is None or code.syntax.enclosing_loop(write.node) is not None:
        return None
    after = set(below(code.blocks.following(write.node)))
    calls = [node for node in after if isinstance(node, ast.Call)]
    if any(name in map(dotted, given_to(call)) for call in calls):
        return None  # the function may set the reward
    for put in code.trajectories.puts:
        if (
            put.by in after
            and put.trajectory is not None
            and dotted(put.trajectory) == name
            and code.sampled.is_choice(put.value)
            and code.sampled.sources(put.value) <= after
            and not code.sampled.by_another_model(put.value)
        ):
            return put
    return None


def _trajectory(code: Code, write: RewardWrite) -> str | None:
    """Return the name of the trajectory that gets the reward."""
    if write.target is not None:
        return dotted(write.target.value)
    targets = targets_of(code.syntax.parents.get(write.node))
    return dotted(targets[0]) if len(targets) == 1 else None
