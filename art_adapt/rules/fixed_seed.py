"""The policy is sampled with a fixed seed, so rollouts are alike and nothing is learned

Rollouts of one scenario that send the same request with the same seed get the same answer:
their group has no variance.

Evidence: vllm, SamplingParams.seed (a generator for each request); art 0.5.18,
preprocessing/tokenize.py:254-258; art 0.5.23, preprocessing/tokenize.py:762-779.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import Function, argument_of, first_argument, names_in
from art_adapt.rules.code import Code, Value
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART403", "fixed-seed", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(
        model=model.get_inference_name(), messages=messages, seed=42  # <-
    )
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
    """\
import art
from types import SimpleNamespace

cfg = SimpleNamespace(seed=7, sampling=SimpleNamespace(temperature=1.0))

def options(cfg):
    return {**vars(cfg.sampling), "seed": cfg.seed}

async def rollout(client, model, s):
    trajectory = art.Trajectory(messages_and_choices=[s.asked])
    response = await client.chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages(), **options(cfg)  # <-
    )
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
    """\
import art

async def rollout(model, puzzle):
    asked = [{"role": "user", "content": puzzle.text}]
    options = {"temperature": 1.0, "seed": puzzle.number}  # <-
    reply = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=asked, **options
    )
    return art.Trajectory(messages_and_choices=[*asked, reply.choices[0]], reward=1.0)

async def train(model, backend, puzzles):
    groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(model, puzzle) for _ in range(8)) for puzzle in puzzles
    )
    await backend.train(model, groups)
""",
)
GOOD = (
    BAD[0].replace(", seed=42  # <-", ""),
    BAD[0].replace("42  # <-", "draw()"),
    BAD[2]
    .replace("model, puzzle)", "model, puzzle, seed)")
    .replace("puzzle.number}  # <-", "seed}")
    .replace("seed) for _ in", "seed) for seed in"),
    # What is given may have been made for one rollout alone.
    BAD[2]
    .replace("  # <-", "")
    .replace(
        "async def train",
        "async def one(model, puzzle):\n    return await rollout(model, attempt_at(puzzle))\n\nasync def train",
    )
    .replace("rollout(model, puzzle) for _", "one(model, puzzle) for _"),
)


def check(code: Code) -> Iterator[Found]:
    for _, given in code.completions.sampling("seed"):
        value = given.constant
        if (isinstance(value, int) and value is not True) or all(
            _is_of_its_scenario(code, each) for each in given.values
        ):
            yield found(
                given.at,
                "with a fixed seed the rollouts of a group are alike: the group has no "
                "variance and nothing is learned",
            )


def _is_of_its_scenario(code: Code, seed: Value) -> bool:
    """Return whether a rollout reads it of an argument that all rollouts of its group are given."""
    rollout = _taking(code, seed)
    members = [
        value.node
        for group in code.training.groups
        if isinstance(group, ast.Call)
        and (given := first_argument(group, "trajectories")) is not None
        for value in code.values(given)
    ]
    return bool(members) and all(
        isinstance(each, ast.GeneratorExp | ast.ListComp)
        and isinstance(each.elt, ast.Call)
        and (called := code.flow.functions.called(code.syntax, each.elt.func))
        and called[1] == rollout
        and names_in(each.generators[-1].target).isdisjoint(names_in(each.elt))
        for each in members
    )


def _taking(code: Code, read: Value) -> Function | None:
    """Return the function that is given what a value is read of, through the calls that reach it."""
    while True:
        value = read
        while isinstance(value.node, ast.Attribute | ast.Subscript):
            value = value.of(value.node.value)
        made = code.flow.definitions(value) if isinstance(value.node, ast.Name) else []
        if len(made) != 1 or not isinstance(made[0].node, ast.arg):
            return None
        function = code.flow.functions.taking(value.syntax, made[0].node)
        frame = value.place.frame
        if function is None or frame is None or frame.function != function:
            return function
        given = argument_of(frame.call, made[0].node.arg, function.positional)
        if given is None:
            return None
        read = Value(given, frame.outer)
