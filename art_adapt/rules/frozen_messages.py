"""Each turn sends the messages from before the loop, but is trained after the turns since

``trajectory.messages()`` makes a list of what is there. A loop that sends this list again and
again adds its turns to the trajectory, and the model never reads them: not its own calls, not
what the tools returned. Training puts them before the next turn all the same. A retry loop that
records its failed attempts is the same mistake.

Call ``trajectory.messages()`` for each request, or record the last attempt only.

Evidence: art 0.5.18 and 0.5.23, trajectories (``messages()`` returns a new list); art 0.5.18,
preprocessing/tokenize.py:331-480 (the context of a Choice is what precedes it).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import receiver
from art_adapt.rules.code import Code, Value
from art_adapt.rules.code.completions import Argument
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.calls.completion_calls import FoundCall
from art_adapt.words import GROWS_LIST

RULE = Rule("ART216", "frozen-messages", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(client, model, question):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])
    prompt = trajectory.messages()
    for _ in range(3):
        response = await client.chat.completions.create(model="m", messages=prompt)  # <-
        trajectory.messages_and_choices.append(response.choices[0])
        if is_valid(response):
            break
    return trajectory
""",
    """\
import art

async def rollout(client, model, question):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])
    request = {"model": "m", "messages": trajectory.messages()}  # <-
    while True:
        response = await client.chat.completions.create(**request)
        trajectory.messages_and_choices.append(response.choices[0])
        if not response.choices[0].message.tool_calls:
            return trajectory
        trajectory.messages_and_choices.append({"role": "user", "content": "Go on."})
""",
)
GOOD = (
    """\
import art

async def once(client, model, question):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])
    prompt = trajectory.messages()
    for _ in range(3):
        try:
            response = await client.chat.completions.create(model="m", messages=prompt)
        except TimeoutError:
            continue
        trajectory.messages_and_choices.append(response.choices[0])
        break
    return trajectory

async def grows(client, model, question):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])
    prompt = trajectory.messages()
    for _ in range(3):
        response = await client.chat.completions.create(model="m", messages=prompt)
        trajectory.messages_and_choices.append(response.choices[0])
        prompt = trajectory.messages()
    return trajectory

async def tells(client, model, question):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])
    request = {"model": "m", "messages": trajectory.messages()}
    for _ in range(3):
        response = await client.chat.completions.create(**request)
        trajectory.messages_and_choices.append(response.choices[0])
        request["messages"].append(response.choices[0].message.model_dump())
    return trajectory
""",
)


def check(code: Code) -> Iterator[Found]:
    for call in code.completions.of_policy:
        sent = code.completions.argument(call, "messages")
        if sent is not None and not call.recorded and _same_each_turn(code, call, sent):
            yield found(
                sent.at,
                "each turn is sent the messages from before the loop, and trained after the turns "
                "since, which the model never read: call trajectory.messages() for each request",
            )


def _is_copy(code: Code, value: Value) -> bool:
    """Return whether it is a list that ``trajectory.messages()`` makes."""
    trajectory = receiver(value.node, "messages")
    return trajectory is not None and code.trajectories.is_one(trajectory)


def _put_in(code: Code, loop: ast.AST, call: FoundCall) -> Iterator[ast.AST]:
    """Yield where a loop puts what a request returned on a trajectory."""
    for put in code.trajectories.puts:
        inside = (put.by, put.value.node)
        if any(
            code.blocks.within(each, loop) for each in inside
        ) and call.call in code.sampled.behind(put.value):
            yield put.by


def _same_each_turn(code: Code, call: FoundCall, sent: Argument) -> bool:
    """Return whether each turn sends the copy of the messages that was made before the loop."""
    loop = code.syntax.enclosing_loop(call.call or call.callee)
    if loop is None or any(code.blocks.within(n, loop) for n in code.trajectories.new):
        return False
    made = list(sent.values)
    frozen = bool(made) and all(
        _is_copy(code, each)
        and code.has(each)
        and not code.blocks.within(each.node, loop)
        and code.syntax.owner(each.node) == code.syntax.owner(call.call or call.callee)
        for each in made
    )
    inside = list(code.blocks.inside(loop)) if frozen else []
    grown = [receiver(each, *GROWS_LIST) for each in inside]
    others = [e for e in grown if e is not None and not code.trajectories.is_items(e)]
    is_told = any(
        made[0].node in {value.node for value in code.values(each)}
        or code.constant(each.slice if isinstance(each, ast.Subscript) else None)
        == "messages"
        for each in others
    )
    goes_on = any(
        not isinstance(code.blocks.around(put)[-1], ast.Break | ast.Return | ast.Raise)
        for put in _put_in(code, loop, call)
    )
    return frozen and goes_on and not is_told
