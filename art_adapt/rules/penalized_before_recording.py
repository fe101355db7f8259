"""An episode is scored and left before its last turn is recorded, so other turns pay for it

The reply is checked first (``if not legal: reward = -1; break``) and recorded after that. On the
path that leaves, the turn that earned the reward is not on the trajectory: its tokens are not
trained, and the earlier turns, which were fine, get its penalty.

Append ``response.choices[0]`` as soon as it is there.

Evidence: art 0.5.18, preprocessing/tokenize.py:333-347; art 0.5.23,
preprocessing/tokenize.py:716-733 (only Choices on the trajectory are trained, with its reward).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from art_adapt.code.nodes import FunctionNode, targets_of
from art_adapt.rules.code import Code, Put, below
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART218", "penalized-before-recording", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(client, model, game):
    trajectory = art.Trajectory(messages_and_choices=[game.rules()])
    while not game.over():
        trajectory.messages_and_choices.append(game.turn())
        response = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages()
        )
        choice = response.choices[0]
        if not game.is_legal(choice.message.content):
            trajectory.reward = -1.0
            break  # <-
        trajectory.messages_and_choices.append(choice)
        game.play(choice.message.content)
        trajectory.reward = game.score()
    return trajectory
""",
    """\
import art

async def rollout(client, model, game):
    messages = [game.rules()]
    for _ in range(9):
        response = await client.chat.completions.create(
            model=model.get_inference_name(), messages=as_messages(messages)
        )
        choice = response.choices[0]
        try:
            game.play(choice.message.content)
        except ValueError:
            return art.Trajectory(messages_and_choices=messages, reward=-1.0)  # <-
        messages.append(choice)
    return art.Trajectory(messages_and_choices=messages, reward=game.score())
""",
)
GOOD = (
    """\
import art

async def rollout(client, model, game):
    trajectory = art.Trajectory(messages_and_choices=[game.rules()])
    while not game.over():
        response = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages()
        )
        choice = response.choices[0]
        trajectory.messages_and_choices.append(choice)
        if not game.is_legal(choice.message.content):
            trajectory.reward = -1.0
            break
        trajectory.reward = game.score()
    return trajectory
""",
    """\
import art

async def rollout(client, model, game):
    trajectory = art.Trajectory(messages_and_choices=[game.rules()])
    while not game.over():
        response = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages()
        )
        choice = response.choices[0]
        if not game.is_legal(choice.message.content):
            trajectory.messages_and_choices.append(choice)
            trajectory.reward = -1.0
            break
        if not choice.message.content:
            raise RuntimeError("an empty reply: no episode")
        trajectory.messages_and_choices.append(choice)
        trajectory.reward = game.score()
    return trajectory
""",
    """\
import art

async def rollout(client, model, game):
    trajectory = art.Trajectory(messages_and_choices=[game.rules()])
    last = None
    for _ in range(9):
        response = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages()
        )
        last = response.choices[0]
        if game.is_done(last.message.content):
            trajectory.reward = game.score()
            break
        trajectory.messages_and_choices.append(last)
    trajectory.messages_and_choices.append(last)
    return trajectory
""",
)


def check(code: Code) -> Iterator[Found]:
    puts = [put for put in code.trajectories.puts if code.sampled.is_choice(put.value)]
    # Recorded in several places, a turn may be on each path.
    for put in puts:
        same = {each.value.node for each in puts if _is_of_same(code, each, put)}
        if put.by not in code.trajectories.new and len(same) == 1:
            yield from _left_before(code, put)


def _is_of_same(code: Code, one: Put, other: Put) -> bool:
    sources = code.sampled.sources(one.value), code.sampled.sources(other.value)
    return not sources[0].isdisjoint(sources[1])


def _left_before(code: Code, put: Put) -> Iterator[Found]:
    """Yield the statements that leave a rewarded episode between a completion and its record."""
    for statement in code.sampled.before_record(put):
        for node in ast.walk(statement):
            if isinstance(node, ast.Break | ast.Return) and _is_of_block(
                code, node, statement
            ):
                branch = code.blocks.around(node)
                if _is_rewarded(code, branch):
                    yield found(
                        node,
                        "this episode is rewarded without the turn that earned it: record "
                        f"{ast.unparse(put.at)} before it is checked",
                    )


def _is_of_block(code: Code, leaving: ast.AST, statement: ast.stmt) -> bool:
    """Return whether a statement leaves the block that an outer one stands in."""
    for outer in code.syntax.ancestors(leaving):
        if outer is statement:
            return True
        if isinstance(outer, FunctionNode | ast.Lambda):
            return False
        if isinstance(outer, ast.For | ast.AsyncFor | ast.While):
            return isinstance(leaving, ast.Return)
    return leaving is statement


def _is_rewarded(code: Code, branch: Sequence[ast.stmt]) -> bool:
    """Return whether a branch gives a trajectory its reward."""
    nodes = set(below(branch))
    constructed = (
        code.contents.given(call, "reward")
        for call in code.trajectories.new
        if call in nodes
    )
    return any(constructed) or any(
        isinstance(target, ast.Attribute)
        and target.attr == "reward"
        and code.trajectories.is_one(target.value)
        for node in nodes
        if isinstance(node, ast.Assign)
        for target in targets_of(node)
    )
