"""Rollouts are gathered with asyncio.gather, so one failure loses its whole batch

``asyncio.gather`` raises the first exception. The other rollouts go on unobserved, what they
sampled is lost, and the run ends unless something catches it. Endpoints time out and agents
fail, so that happens in any long run.

Let ``art.gather_trajectory_groups`` run them, with ``max_exceptions``; or give ``gather``
``return_exceptions=True``, and leave the exceptions out of the group.

Evidence: Python, asyncio.gather ("the first raised exception is immediately propagated"); art
0.5.18, gather.py:19 (max_exceptions) and trajectories.py:155-172; art 0.5.23, gather.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.dependence import made_from
from art_adapt.code.nodes import (
    Function,
    arguments_of,
    given_to,
    keyword,
    last_name,
)
from art_adapt.code.syntax import Syntax, return_values
from art_adapt.rules.code import Code
from art_adapt.rules.code.failures import GATHERS, catches_all, keeps_failures
from art_adapt.rules.code.values import Value
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART530", "gathered-by-hand", Severity.WASTE)
BAD = (
    """\
import art, asyncio

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages, reward=0.0)
    response = await client.chat.completions.create(model="m", messages=messages)
    trajectory.messages_and_choices.append(response.choices[0])
    trajectory.reward = rate(response)
    return trajectory

async def step(client, model, backend, scenarios):
    groups = []
    for scenario in scenarios:
        done = await asyncio.gather(*[rollout(client, model, scenario) for _ in range(8)])  # <-
        groups.append(art.TrajectoryGroup(done))
    await backend.train(model, groups)
""",
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages, reward=0.0)
    response = await client.chat.completions.create(model="m", messages=messages)
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory

async def train(client, model, backend, scenarios):
    for step in range(await model.get_step(), 50):
        groups = [
            art.TrajectoryGroup([await rollout(client, model, each) for _ in range(4)])  # <-
            for each in scenarios
        ]
        await backend.train(model, groups)
""",
)
GOOD = (
    BAD[0]
    .replace("range(8)])  # <-", "range(8)], return_exceptions=True)")
    .replace(
        "TrajectoryGroup(done)",
        "TrajectoryGroup([t for t in done if isinstance(t, art.Trajectory)])",
    ),
    """\
import art, asyncio

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages, reward=0.0)
    response = await client.chat.completions.create(model="m", messages=messages)
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory

async def group(client, model, scenario):
    done = await asyncio.gather(
        *(rollout(client, model, scenario) for _ in range(8)), return_exceptions=True
    )
    return art.TrajectoryGroup(done)

async def step(client, model, backend, scenarios):
    for _ in range(10):
        groups = await asyncio.gather(*(group(client, model, each) for each in scenarios))
        await backend.train(model, groups)
""",
    BAD[0]
    .replace("  # <-", "")
    .replace("        done = await", "        evaluated = await")
    .replace("        groups.append(art.TrajectoryGroup(done))\n", "")
    .replace("backend.train(model, groups)", "model.log(evaluated, split='val')"),
    """\
import art, asyncio
from art.trajectories import History

async def look(client, model, question) -> tuple[History, str]:
    history = History(messages_and_choices=[{"role": "user", "content": question}])
    response = await client.chat.completions.create(model="m", messages=history.messages())
    history.messages_and_choices.append(response.choices[0])
    return history, response.choices[0].message.content

async def rollout(client, model, scenario):
    lead = art.Trajectory(messages_and_choices=scenario.messages)
    found = await asyncio.gather(*(look(client, model, each) for each in scenario.questions))
    lead.additional_histories = [history for history, _ in found]
    lead.reward = rate(found)
    return lead

async def play(client, model, backend, scenarios):
    for _ in range(10):
        groups = await art.gather_trajectory_groups(
            art.TrajectoryGroup(rollout(client, model, each) for _ in range(8)) for each in scenarios
        )
        await backend.train(model, groups)

async def one(client, model, scenario) -> art.TrajectoryGroup | None:
    try:
        return await group_of(client, model, scenario)
    except Exception as error:
        print(error)
        return None

async def group_of(client, model, scenario):
    done = [rollout(client, model, scenario) for _ in range(8)]
    return art.TrajectoryGroup(await asyncio.gather(*done, return_exceptions=True))

async def step(client, model, backend, scenarios):
    for _ in range(10):
        groups = await asyncio.gather(*(one(client, model, each) for each in scenarios))
        await backend.train(model, [each for each in groups if each])
""",
    """\
import art, asyncio

async def rollout(model, row):
    return art.Trajectory(messages_and_choices=[], reward=1.0)

async def group_of(model, row):
    results = await asyncio.gather(*(rollout(model, row) for _ in range(8)), return_exceptions=True)
    good = [each for each in results if isinstance(each, art.Trajectory)]
    failed = [each for each in results if isinstance(each, BaseException)]
    return art.TrajectoryGroup(good, exceptions=failed)

async def main(model, backend, batches):
    for batch in batches:
        groups = await asyncio.gather(*(group_of(model, row) for row in batch))
        await backend.train(model, groups)
""",
)


def check(code: Code) -> Iterator[Found]:
    """Yield the gathers of rollouts that become a group, or in a loop that trains, unhandled."""
    for call in code.calls:
        if (
            code.syntax.qualified(call.func) in GATHERS
            and _raises(code, call)
            and _runs_rollouts(code, call)
            and not code.is_caught(call)
            and (_becomes_a_group(code, call) or _is_of_a_loop(code, call))
            and not _is_of_an_episode(code, call)
        ):
            yield found(
                call,
                "the first rollout that fails raises here, and the others of the batch are "
                "lost; use art.gather_trajectory_groups, or return_exceptions=True",
            )
        elif _is_awaited_alone(code, call):
            yield found(
                call,
                "this loop runs one rollout at a time, and the first failure ends the run; use "
                "art.gather_trajectory_groups, with max_exceptions",
            )


def _is_awaited_alone(code: Code, call: ast.Call) -> bool:
    """Return whether a loop within one that trains awaits one rollout at a time, unhandled."""
    if not isinstance(code.syntax.parents.get(call), ast.Await) or code.is_caught(call):
        return False
    around = [
        outer
        for outer in code.syntax.ancestors(call)
        if isinstance(outer, ast.For | ast.While | ast.ListComp)
    ]
    trains = {
        loop
        for trained in code.training.calls
        for loop in code.syntax.enclosing_loops(trained)
    }
    inner = [outer for outer in around if outer not in trains]
    made_by = code.flow.functions.called(code.syntax, call.func)
    return (
        bool(inner)
        and not trains.isdisjoint(around)
        and made_by is not None
        and _makes_trajectories(*made_by)
    )


def _raises(code: Code, call: ast.Call) -> bool:
    given = keyword(call, "return_exceptions")
    return given is None or code.constant(given) in (False, None)


def _runs_rollouts(code: Code, call: ast.Call) -> bool:
    """Return whether calls of rollouts are among what is gathered."""
    given = [
        each.value if isinstance(each, ast.Starred) else each for each in call.args
    ]
    values = [value for each in given for value in _followed(code, each)]
    return any(
        isinstance(node, ast.Call) and _is_rollout(code, value.of(node))
        for value in values
        for node in ast.walk(value.node)
    )


def _followed(code: Code, given: ast.expr) -> Iterator[Value]:
    """Yield what is gathered, and what was put into that list before."""
    yield from code.values(given)
    yield from code.contents.elements(given)


def _is_rollout(code: Code, called: Value) -> bool:
    """Return whether a call runs a function that makes a trajectory or a group of them.

    It may stand in another file.
    """
    assert isinstance(called.node, ast.Call)
    callee = called.node.func
    wrapped = (
        callee.args if isinstance(callee, ast.Call) else []
    )  # wrap_rollout(m, f)(s)
    named = (
        code.flow.functions.called(called.syntax, each)
        for each in (callee, *wrapped)
        if isinstance(each, ast.Name | ast.Attribute)
    )
    return any(
        (found[0] is code.syntax and found[1].qualname in code.trajectories.rollouts)
        or _makes_trajectories(*found)
        or _makes(*found, "TrajectoryGroup")
        or _gives_trajectories(found[1])
        for found in named
        if found is not None
        and not keeps_failures(*found)
        and not catches_all(found[1])
    )


def _gives_trajectories(function: Function) -> bool:
    """Return whether a function is annotated to return trajectories, and not to take any."""
    returns = function.node.returns
    taken = [each.annotation for each in arguments_of(function.node) if each.annotation]
    return (
        returns is not None
        and "Trajectory" in _named(returns)
        and not any("Trajectory" in name for each in taken for name in _named(each))
    )


def _named(annotation: ast.expr) -> set[str]:
    return {last_name(node) for node in ast.walk(annotation)}


def _makes_trajectories(syntax: Syntax, function: Function) -> bool:
    return _makes(syntax, function, "Trajectory")


def _makes(syntax: Syntax, function: Function, name: str) -> bool:
    return any(
        isinstance(node, ast.Call) and last_name(node.func).endswith(name)
        for node in syntax.owned_by(function.qualname)
    )


def _is_of_a_loop(code: Code, call: ast.Call) -> bool:
    """Return whether a loop that trains gathers, itself or in a function that it calls."""
    for trained in code.training.calls:
        loop = next(iter(code.training.loops(trained)), None)
        if loop is None:
            continue
        outside = code.syntax.owner(loop) != code.syntax.owner(trained)
        beside = outside and code.syntax.owner(call) == code.syntax.owner(trained)
        if beside or code.blocks.within(call, loop):
            return True
        if any(code.blocks.within(each, loop) for each in code.callers(call)):
            return True
    return False


def _is_of_an_episode(code: Code, call: ast.Call) -> bool:
    """Return whether a rollout gathers its own parts: where one fails, that episode fails."""
    function = code.function_of(call)
    return function is not None and _makes_trajectories(code.syntax, function)


def _becomes_a_group(code: Code, call: ast.Call) -> bool:
    """Return whether what is gathered is put into a group, here or by who calls this function."""
    syntax = code.syntax
    made_of = {
        node
        for group in code.art_calls("TrajectoryGroup")
        for node in made_from(syntax, syntax.owner(group), given_to(group))
    }
    if call in made_of:
        return True
    owner = syntax.owner(call)
    given_back = made_from(syntax, owner, return_values(syntax, owner))
    return call in given_back and not made_of.isdisjoint(code.callers(call))
