"""Rollouts share one environment, so each plays in the others' games

ART gathers the rollouts of a step at the same time. An environment that is made once (in the
module, or beside the gather) is reset by every rollout while others wait for their model: their
next observation, and their reward, are of a game that somebody else began.

Make the environment in the rollout.

Evidence: art 0.5.18, gather.py:47; art 0.5.23, gather.py (asyncio gathers all groups).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import bound_names, dotted, names_in, targets_of
from art_adapt.code.syntax import MODULE_LEVEL
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART220", "shared-environment", Severity.GARBAGE)
BAD = (
    """\
import art, zork

ENV = zork.Env("zork1.z5")

async def rollout(client, model, seed):
    observation, info = ENV.reset()  # <-
    trajectory = art.Trajectory(messages_and_choices=[])
    for _ in range(25):
        trajectory.messages_and_choices.append({"role": "user", "content": observation})
        response = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages()
        )
        trajectory.messages_and_choices.append(response.choices[0])
        observation, _, done, info = ENV.step(response.choices[0].message.content)
    trajectory.reward = info["score"]
    return trajectory
""",
    """\
import art
from games import Game

async def rollout(client, model, game, seed):
    text = game.reset(seed)  # <-
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": text}])
    while not game.over:
        response = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages()
        )
        trajectory.messages_and_choices.append(response.choices[0])
        trajectory.reward = game.step(response.choices[0].message.content)
    return trajectory

async def main(client, model, backend, seeds):
    game = Game()
    groups = await art.gather_trajectory_groups(
        (art.TrajectoryGroup(rollout(client, model, game, s) for _ in range(4)) for s in seeds)
    )
    await backend.train(model, groups)
""",
)
GOOD = (
    """\
import art, asyncio, zork
from games import Game

RULES = zork.Rules()
LOCK = asyncio.Lock()
ENV = zork.Env("zork1.z5")

async def own(client, model, seed):
    env = zork.Env("zork1.z5")
    observation, info = env.reset()
    trajectory = art.Trajectory(messages_and_choices=[])
    for _ in range(25):
        response = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages()
        )
        trajectory.messages_and_choices.append(response.choices[0])
        observation, _, done, info = env.step(response.choices[0].message.content)
    return trajectory

async def without_state(client, model, seed):
    state = RULES.reset(seed)
    trajectory = art.Trajectory(messages_and_choices=[])
    for _ in range(25):
        response = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages()
        )
        trajectory.messages_and_choices.append(response.choices[0])
        state = RULES.step(state, response.choices[0].message.content)
    return trajectory

async def one_by_one(client, model, seed):
    trajectory = art.Trajectory(messages_and_choices=[])
    async with LOCK:
        observation, info = ENV.reset()
        for _ in range(25):
            response = await client.chat.completions.create(
                model=model.get_inference_name(), messages=trajectory.messages()
            )
            trajectory.messages_and_choices.append(response.choices[0])
            observation, _, done, info = ENV.step(response.choices[0].message.content)
    return trajectory

async def given(client, model, game, seed):
    game.reset(seed)
    trajectory = art.Trajectory(messages_and_choices=[])
    while not game.over:
        response = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages()
        )
        trajectory.messages_and_choices.append(response.choices[0])
        game.step(response.choices[0].message.content)
    return trajectory

async def main(client, model, seeds):
    return await art.gather_trajectory_groups(
        (art.TrajectoryGroup(given(client, model, Game(), s) for _ in range(4)) for s in seeds)
    )
""",
)

COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp)


def check(code: Code) -> Iterator[Found]:
    for reset, environment in code.method_calls("reset"):
        if (
            code.is_async(reset)
            and code.trajectories.in_rollout(reset)
            and _is_shared(code, environment, reset)
            and not _is_alone(code, reset)
            and _is_played(code, environment, reset)
        ):
            yield found(
                reset,
                "all rollouts of a step play in this one object at the same time: make it in "
                "the rollout",
            )


def _is_shared(code: Code, environment: ast.expr, reset: ast.Call) -> bool:
    """Return whether an object is made once for all rollouts: in the module, or beside a gather.

    What ``self`` keeps is one for all rollouts that run as ``self.rollout(...)``.
    """
    uses = code.callers(reset)
    if isinstance(environment, ast.Attribute) and not (
        uses and all((dotted(use.func) or "").startswith("self.") for use in uses)
    ):
        return False
    gathers = [
        next(
            (o for o in code.syntax.ancestors(u) if isinstance(o, COMPREHENSIONS)), None
        )
        for u in uses
    ]
    values = code.values(environment)
    return bool(values) and all(
        isinstance(value.node, ast.Call)
        and any(targets_of(code.syntax.parents.get(value.node)))
        and code.syntax.owner(value.node) != code.syntax.owner(reset)
        and (
            code.syntax.owner(value.node) == MODULE_LEVEL
            or all(
                each and not code.blocks.within(value.node, each) for each in gathers
            )
        )
        for value in values
    )


def _is_alone(code: Code, reset: ast.Call) -> bool:
    """Return whether a lock or the like is held around it."""
    return any(
        isinstance(outer, ast.AsyncWith) for outer in code.syntax.ancestors(reset)
    )


def _is_played(code: Code, environment: ast.expr, reset: ast.Call) -> bool:
    """Return whether a method is called after a model was awaited, without what reset returned."""
    statement = next(o for o in code.syntax.ancestors(reset) if isinstance(o, ast.stmt))
    state = set(bound_names(targets_of(statement)))
    for node in code.syntax.owned_by(code.syntax.owner(reset)):
        if (
            isinstance(node, ast.Call)
            and node is not reset
            and isinstance(node.func, ast.Attribute)
            and dotted(node.func.value) == dotted(environment)
            and (loop := code.syntax.enclosing_loop(node)) is not None
            and any(isinstance(each, ast.Await) for each in ast.walk(loop))
        ):
            return not any(state & names_in(each) for each in node.args)
    return False
