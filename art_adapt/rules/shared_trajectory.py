"""Each episode of a group is given the same trajectory, so all of them train on all turns

The trajectory is made once, and each rollout of the group adds its turns to it. The group then
has one object several times: its turns are mixed, and all of its rewards are the last one.

Make the trajectory in the rollout, or give each rollout a deep copy.

Evidence: art 0.5.18 and 0.5.23, gather.py (the rollouts of a group run concurrently);
preprocessing/tokenize.py (equal rewards have no advantage).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import dotted, first_argument, names_set_in
from art_adapt.code.syntax import return_values
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART215", "shared-trajectory", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(client, trajectory):
    response = await client.chat.completions.create(model="m", messages=trajectory.messages())
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory

def group_of(client, opening):
    start = art.Trajectory(messages_and_choices=[opening])
    return art.TrajectoryGroup(rollout(client, start) for _ in range(8))  # <-

def groups_of(client, openings):
    for opening in openings:
        start = art.Trajectory(messages_and_choices=[opening])
        episodes = []
        for _ in range(8):
            episodes.append(rollout(client, trajectory=start))  # <-
        yield art.TrajectoryGroup(episodes)
""",
)
GOOD = (
    """\
import art, copy

async def rollout(client, trajectory):
    response = await client.chat.completions.create(model="m", messages=trajectory.messages())
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory

def group_of(client, opening):
    start = art.Trajectory(messages_and_choices=[opening])
    copies = art.TrajectoryGroup(rollout(client, copy.deepcopy(start)) for _ in range(8))
    made = art.TrajectoryGroup(rollout(client, art.Trajectory()) for _ in range(8))
    return copies, made
""",
)


def check(code: Code) -> Iterator[Found]:
    for group in code.art_calls("TrajectoryGroup", "gather_trajectories"):
        members = first_argument(group, "trajectories")
        if members is None:
            continue
        for rollout, loop in _made_in_loops(code, members):
            if code.blocks.within(group, loop):
                continue  # a group of its own in each turn of the loop
            if any(_is_one_for_all(code, e, loop) for e in _kept(code, rollout)):
                yield found(
                    rollout,
                    "all episodes of the group add their turns to one trajectory, made before "
                    "the loop: make it in each of them, or hand on a deep copy",
                )


def _made_in_loops(code: Code, members: ast.expr) -> Iterator[tuple[ast.Call, ast.AST]]:
    """Yield the calls of rollouts that become the members of a group, each with its loop."""
    for value in (*code.values(members), *code.contents.elements(members)):
        node: ast.AST = value.node
        loop: ast.AST | None = value.syntax.enclosing_loop(node)
        if isinstance(node, ast.GeneratorExp | ast.ListComp):
            node, loop = node.elt, node
        if isinstance(node, ast.Call) and loop is not None and code.has(value):
            yield node, loop


def _kept(code: Code, call: ast.Call) -> Iterator[ast.expr]:
    """Yield the arguments of a call that its function returns, as it was given them."""
    called = code.flow.functions.called(code.syntax, call.func)
    if called is None:
        return
    syntax, function = called
    returned = {dotted(e) for e in return_values(syntax, function.qualname)}
    returned -= names_set_in(function.node)  # such as its own copy
    given = dict(zip(function.positional, call.args, strict=False))
    given |= {each.arg: each.value for each in call.keywords if each.arg is not None}
    yield from (value for name, value in given.items() if name in returned)


def _is_one_for_all(code: Code, given: ast.expr, loop: ast.AST) -> bool:
    """Return whether a value certainly is one trajectory, which a loop has not made."""
    values = code.aliases.values(given)
    return bool(values) and all(
        value.node in code.trajectories.new and not code.blocks.within(value.node, loop)
        for value in values
    )
