"""Every turn sends the opening messages, but is trained as if it had read the turns between

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

from art_adapt.code.nodes import dotted, names_in, names_set_in, receiver
from art_adapt.rules.code import Code
from art_adapt.rules.code.completions import Argument
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.calls.completion_calls import FoundCall

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
    """\
import art

async def best_of(client, model, question):
    base = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])
    prompt = base.messages()
    made = []
    for _ in range(8):
        trajectory = base.model_copy(deep=True)
        response = await client.chat.completions.create(model="m", messages=prompt)
        trajectory.messages_and_choices.append(response.choices[0])
        made.append(trajectory)
    return art.TrajectoryGroup(made)

async def until_valid(client, model, question):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])
    prompt, done = trajectory.messages(), False
    while not done:
        response = await client.chat.completions.create(model="m", messages=prompt)
        if is_valid(response):
            trajectory.messages_and_choices.append(response.choices[0])
            done = True
    return trajectory

async def tells(client, model, question):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])
    prompt = trajectory.messages()
    for _ in range(3):
        response = await client.chat.completions.create(model="m", messages=prompt)
        trajectory.messages_and_choices.append(response.choices[0])
        tell(prompt, response)
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


def _same_each_turn(code: Code, call: FoundCall, sent: Argument) -> bool:
    """Return whether each turn sends the messages from before the loop, and adds to the rest."""
    loop = code.syntax.enclosing_loop(call.call or call.callee)
    made = list(sent.values)
    if loop is None or not made:
        return False
    for value in made:
        trajectory = receiver(value.node, "messages")
        if (
            trajectory is None
            or not code.trajectories.is_one(trajectory)
            or not code.has(value)
            or code.blocks.within(value.node, loop)
            or code.syntax.owner(value.node) != code.syntax.owner(loop)
        ):
            return False
        if not any(
            dotted(put.trajectory) == dotted(trajectory)
            and call.call in code.sampled.behind(put.value)
            and not _is_left_after(code, put.by, loop)
            for put in code.trajectories.puts
            if code.blocks.within(put.by, loop) and put.trajectory is not None
        ):
            return False
    return not _is_touched(code, call, loop)


def _is_left_after(code: Code, node: ast.AST, loop: ast.AST) -> bool:
    """Return whether a loop certainly ends after a node: it is left, or its condition is set."""
    asked = names_in(loop.test) if isinstance(loop, ast.While) else set()
    for outer in (node, *code.syntax.ancestors(node)):
        if outer is loop:
            return False
        for after in code.blocks.after(outer):
            if isinstance(after, ast.Break | ast.Return | ast.Raise):
                return True
            if isinstance(after, ast.Assign) and asked & names_set_in(after):
                return True
    return False


def _is_touched(code: Code, call: FoundCall, loop: ast.AST) -> bool:
    """Return whether a loop uses what it sends elsewhere as well, or takes turns back."""
    sent = {dotted(call.messages)} if call.messages is not None else set[str | None]()
    if call.call is not None:
        sent |= {dotted(each.value) for each in call.call.keywords if each.arg is None}
    own = set(ast.walk(call.call)) if call.call is not None else set()
    for node in code.blocks.inside(loop):
        if isinstance(node, ast.Name) and node not in own and node.id in sent:
            return True
        if isinstance(node, ast.Delete) or receiver(node, "pop", "clear", "remove"):
            return True
    return False
