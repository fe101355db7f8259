"""The messages that are sent are not all recorded, so the trained conversation has gaps

The loop sends a list of its own and appends tool outputs or the user's turns only to that
list. The trajectory has the choices, but not everything the model read before them: training
uses a conversation with gaps.

Send ``trajectory.messages()``, or append to both lists.

Evidence: art 0.5.18, preprocessing/tokenize.py:331-480 (the context of a Choice is what
precedes it on the trajectory).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code, dict_item
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.nodes import dotted

RULE = Rule("ART203", "other-list-sent", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(client, model, question):
    messages = [{"role": "user", "content": question}]
    trajectory = art.Trajectory(messages_and_choices=list(messages))
    for _ in range(5):
        response = await client.chat.completions.create(model="m", messages=messages)  # <-
        trajectory.messages_and_choices.append(response.choices[0])
        messages.append(response.choices[0].message)
        messages.append({"role": "user", "content": "Go on."})
    return trajectory
""",
)
GOOD = (
    """\
import art

async def rollout(client, model, question):
    messages = [{"role": "user", "content": question}]
    trajectory = art.Trajectory(messages_and_choices=list(messages))
    for _ in range(5):
        response = await client.chat.completions.create(model="m", messages=messages)
        trajectory.messages_and_choices.append(response.choices[0])
        messages.append(response.choices[0].message)
        extra = {"role": "user", "content": "Go on."}
        messages.append(extra)
        trajectory.messages_and_choices.append(extra)
    return trajectory
""",
)


def check(code: Code) -> Iterator[Found]:
    if code.trajectories.extends_items:
        return
    for call in code.completions.of_policy:
        loop = code.syntax.enclosing_loop(call.callee)
        name = dotted(call.messages) if call.messages is not None else None
        if call.recorded or loop is None or name is None or "." in name:
            continue
        assert call.messages is not None
        if code.trajectories.is_items(call.messages):
            continue
        inside = set(code.blocks.inside(loop))
        ours = [put for put in code.trajectories.puts if put.by in inside]
        if not any(code.sampled.is_choice(put.value) for put in ours):
            continue
        owner = code.syntax.owner(call.callee)
        others = [put for put in ours if not code.sampled.is_choice(put.value)]
        others += [
            put
            for put in code.trajectories.puts
            if code.syntax.owner(put.by).startswith(f"{owner}.")
        ]
        sent_only = [
            other
            for other in inside
            if isinstance(other, ast.Call)
            and isinstance(other.func, ast.Attribute)
            and other.func.attr in ("append", "extend")
            and dotted(other.func.value) == name
            and other.args
            and _is_context(other.args[0])
        ]
        rebuilt = any(
            where == owner and value in inside
            for where, value in code.syntax.assignments.get(name, [])
        )
        if sent_only and not others and not rebuilt:
            yield found(
                call.messages,
                f"{name} gets messages that the trajectory does not, so training uses a "
                "conversation with gaps; append to both, or send trajectory.messages()",
            )


def _is_context(value: ast.expr) -> bool:
    """Return whether it is a message that the model did not write."""
    role = dict_item(value, "role")
    return isinstance(role, ast.Constant) and role.value in ("user", "tool", "system")
