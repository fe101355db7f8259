"""Every episode gets the same reward, so nothing is learned

A group whose rewards are all equal has no advantage: ART drops it, and the step advances with
nothing learned. On ART 0.5.18, a reward such as 0.1 may differ from its group's mean by a
rounding error, and that error is then trained as a full-size advantage.

Make the reward depend on what happened in the episode.

Evidence: art 0.5.18, preprocessing/tokenize.py:254-258 and pack.py:156-159; art 0.5.23,
preprocessing/tokenize.py:762-779.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile

from art_adapt.code.nodes import (
    Function,
    argument_of,
    awaited,
    dotted,
    given_to,
    names_in,
    names_set_in,
)
from art_adapt.paths import at
from art_adapt.rules.code import Code, RewardWrite, Value
from art_adapt.rules.code.annotated import is_group
from art_adapt.rules.rule import LOOP, Found, Rule, Severity, found

RULE = Rule("ART302", "constant-reward", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[], reward=0.0)
    trajectory.reward = 1.0  # <-
    return trajectory
"""
    + LOOP,
    """\
import art

async def share(group: art.TrajectoryGroup):
    mean = sum(each.reward for each in group) / 4
    for each in group.trajectories:
        each.metrics["own"] = each.reward
        each.reward = mean  # <-
    return group
""",
    """\
import art

async def share(group: art.TrajectoryGroup):
    best = max(each.reward for each in group)
    for each in group:
        each.reward = best * 0.5  # <-
    return group
""",
    """\
import art

def grade(scenario, answer):
    return {"recall": float(scenario.wanted in answer), "words": len(answer.split())}

async def rollout(model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[], reward=0.0)  # <-
    trajectory.metrics.update(grade(scenario, await ask(model, scenario)))
    return trajectory
"""
    + LOOP,
    """\
import art

class Grader:
    def __init__(self, row):
        self.row, self.wanted = row, row["answer"]

    def grade(self, said):
        return 1.0 if self.wanted == self.row["answer"] else 0.0

async def rollout(model, row):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": row["q"]}])
    response = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(response.choices[0])
    trajectory.reward = Grader(row).grade(response.choices[0].message.content)  # <-
    return trajectory
""",
)
GOOD = (
    """\
import art

async def center(group: art.TrajectoryGroup, bonus, scores):
    mean = sum(each.reward for each in group) / 4
    for each, score in zip(group.trajectories, scores):
        each.reward = score - mean
    for each in group:
        share = each.reward / 2
        each.reward = share
    for each in group.trajectories:
        if each.metrics["won"]:
            each.reward = bonus
    for each in group.trajectories:
        each.reward = mean
        each.reward += each.metrics["won"]
    return group
""",
    """\
import art

async def steps(game):
    trajectories = []
    while not game.over:
        trajectories.append(art.Trajectory(messages_and_choices=game.turn()))
    reward = game.score()
    for trajectory in trajectories:
        trajectory.reward = reward
    return trajectories
""",
    """\
import art

async def rollout(model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[], reward=0.0)
    if scenario.won:
        trajectory.reward = 1.0
    return trajectory
"""
    + LOOP,
    """\
import art

async def rollout(model, question):
    history = []
    fields = dict(messages_and_choices=history, reward=float(history[-1] == question.wanted))
    return art.Trajectory(**fields)
"""
    + LOOP,
    """\
import art

async def play(models):
    pair = [art.Trajectory(reward=0) for _ in models]
    pair[0].reward += 3
    return pair
"""
    + LOOP,
    """\
import art

async def one(model, task):
    trajectory = art.Trajectory(messages_and_choices=[task.asked])
    trajectory.reward = task.grade(await ask(model, task))
    trajectory.metrics["reward"] = trajectory.reward
    return trajectory

async def train(model, backend, tasks):
    groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup(one(model, task) for _ in range(8)) for task in tasks
    )
    await backend.train(model, groups)
""",
)

OF_GROUP = (
    "every trajectory of a group gets this same reward: the group has no variance and "
    "nothing is learned from it"
)
MESSAGE = (
    "every episode gets this reward: groups have no variance and nothing is learned"
)


def check(code: Code) -> Iterator[Found]:
    yield from _of_train_module(code)
    yield from _same_in_group(code)
    yield from _deaf(code)
    assigned = [write for write in code.rewards.writes if not write.constructs]
    if (
        not code.training.whole_loop
        or not code.rewards.writes
        # A file may have a function called a grade that nothing of a trajectory reaches.
        or (code.rewards.may_be_judged and (assigned or code.rewards.may_be_given))
        or code.rewards.has_other_writes
        or code.rewards.may_be_set_elsewhere
    ):
        return
    possible = {code.constant(write.value) for write in assigned}
    if not any(_is_unconditional(code, write) for write in assigned):
        possible |= {_given(code, call) for call in code.trajectories.new}
    if ... in possible or len(possible) > 1:
        return
    write = (assigned or list(code.rewards.writes))[0]
    yield found(write.value, MESSAGE)


def _given(code: Code, call: ast.Call) -> object:
    """Return the constant that a trajectory is made with; ``...``: another value."""
    value = code.contents.given(call, "reward")
    if value is None:
        return ... if code.contents.may_give(call, "reward") else 0.0
    return code.constant(value)


def _of_train_module(code: Code) -> Iterator[Found]:
    """Yield the constants that a train module of art-adapt sets after each episode."""
    recording = {code.syntax.owner(call) for call in code.recording_calls}
    returned: dict[ast.expr, dict[object, Value]] = {}
    for named, value in code.rewards.of_functions:
        returned.setdefault(named, {})[code.constant(value)] = value
    for named, constants in returned.items():
        value = next(iter(constants.values()))
        if len(constants) == 1 and ... not in constants:
            yield found(named, f"{at(value.syntax.place(value.node))}: {MESSAGE}")
    for write in code.rewards.writes:
        if (
            code.syntax.owner(write.node) in recording
            and code.constant(write.value) is not ...
            and _is_unconditional(code, write)
        ):
            yield found(write.value, MESSAGE)


def _deaf(code: Code) -> Iterator[Found]:
    """Yield the rewards of functions that get the model's answer, and do not read it."""
    for write in code.rewards.writes:
        call = awaited(write.value)
        body = code.entered(call) if isinstance(call, ast.Call) else None
        if body is None or not isinstance(call, ast.Call):
            continue
        function = body.function
        given = [
            (name, value)
            for name in function.given
            if (value := argument_of(call, name, function.positional)) is not None
        ]
        if len(given) != len(given_to(call)):
            continue
        answers = [name for name, value in given if code.sampled.behind(value)]
        read = {each.id for each in body.nodes if isinstance(each, ast.Name)}
        if (
            answers
            and read.isdisjoint((*answers, "locals"))
            and not any(code.trajectories.is_one(value) for _, value in given)
            and any(True for _ in body.returns())
        ):
            yield found(
                write.value,
                f"{function.qualname} does not read {answers[0]}, what the model said: "
                f"{MESSAGE}",
            )


def _same_in_group(code: Code) -> Iterator[Found]:
    """Yield what each trajectory of a group gets, and has nothing to do with it."""
    for write in code.rewards.writes:
        loop = code.syntax.parents.get(write.node)
        function = code.function_of(write.node)
        if (
            not isinstance(write.node, ast.Assign)
            or not isinstance(loop, ast.For)
            or not isinstance(loop.target, ast.Name)
            or write.target is None
            or dotted(write.target.value) != loop.target.id
            or not _is_group(code, loop.iter)
            or function is None
            or not _is_on_top(code, loop, function)  # else it depends
        ):
            continue
        names = names_in(write.value)
        calls = any(isinstance(node, ast.Call) for node in ast.walk(write.value))
        again = [
            each
            for each in code.rewards.writes
            if each is not write
            and code.blocks.within(each.node, function.node)
            and each.node.lineno > write.node.lineno
        ]
        if names and not calls and not again and names.isdisjoint(names_set_in(loop)):
            yield found(write.value, OF_GROUP)


def _is_group(code: Code, whole: ast.expr) -> bool:
    """Return whether a loop goes through what is annotated as a group, or its trajectories.

    A list of trajectories may be the steps of one episode, which share its reward.
    """
    if isinstance(whole, ast.Attribute) and whole.attr == "trajectories":
        whole = whole.value
    return is_group(code.flow, code.flow.here(whole))


def _is_unconditional(code: Code, write: RewardWrite) -> bool:
    """Return whether it is always reached, before any return: on top, or in a ``with``."""
    function = code.function_of(write.node)
    if function is None or not _is_on_top(code, write.node, function):
        return False
    return not any(
        isinstance(node, ast.Return) and node.lineno < write.node.lineno
        for node in code.syntax.owned_by(function.qualname)
    )


def _is_on_top(code: Code, node: ast.AST, function: Function) -> bool:
    """Return whether a node stands on top of a function, or in a ``with`` there."""
    around = takewhile(
        lambda outer: outer is not function.node, code.syntax.ancestors(node)
    )
    return all(isinstance(outer, ast.With | ast.AsyncWith) for outer in around)
