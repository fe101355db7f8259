"""The results of tools are recorded before the turn that called them, so the order is wrong

The order of ``messages_and_choices`` is the prompt. A tool message that stands before the choice
with its ``tool_calls`` answers nothing: the next request is rejected or rendered as a conversation
that no model has seen, and the model is trained on it.

Append the choice first, then run its tools.

Evidence: the chat completions API (a tool message follows its call); art 0.5.18,
preprocessing/tokenize.py:347 (the list is rendered in its order); art 0.5.23,
preprocessing/tokenize.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code, Put, below
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART219", "answered-before-recorded", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(client, model, tools, run):
    trajectory = art.Trajectory(messages_and_choices=[], tools=tools)
    for _ in range(6):
        response = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages(), tools=tools
        )
        choice = response.choices[0]
        for call in choice.message.tool_calls or []:
            trajectory.messages_and_choices.append(
                {"role": "tool", "tool_call_id": call.id, "content": run(call)}
            )
        trajectory.messages_and_choices.append(choice)  # <-
    return trajectory
""",
    """\
import art

def use(trajectory, choice):
    for call in choice.message.tool_calls or []:
        trajectory.messages_and_choices.append(
            {"role": "tool", "tool_call_id": call.id, "content": "done"}
        )

async def rollout(client, model, tools):
    trajectory = art.Trajectory(messages_and_choices=[], tools=tools)
    for _ in range(6):
        response = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages(), tools=tools
        )
        choice = response.choices[0]
        use(trajectory, choice)
        trajectory.messages_and_choices.append(choice)  # <-
    return trajectory
""",
)
GOOD = (
    """\
import art

async def rollout(client, model, tools, run):
    trajectory = art.Trajectory(messages_and_choices=[], tools=tools)
    for _ in range(6):
        response = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages(), tools=tools
        )
        choice = response.choices[0]
        trajectory.messages_and_choices.append(choice)
        for call in choice.message.tool_calls or []:
            trajectory.messages_and_choices.append(
                {"role": "tool", "tool_call_id": call.id, "content": run(call)}
            )
    return trajectory
""",
)


def check(code: Code) -> Iterator[Found]:
    answers = [put for put in code.trajectories.puts if _is_answer(code, put)]
    for put in code.trajectories.puts if answers else ():
        if not code.sampled.is_choice(put.value):
            continue
        between = below(code.sampled.before_record(put))
        if any(_answers(code, node, answers) for node in between):
            yield found(
                put.at,
                "its tools have been answered above: the conversation has the results before "
                "the calls; record the turn first",
            )


def _is_answer(code: Code, put: Put) -> bool:
    return bool(code.contents.item(put.value, "tool_call_id").values)


def _answers(code: Code, node: ast.AST, answers: list[Put]) -> bool:
    """Return whether a node puts a tool message on the trajectory, itself or in its function."""
    if any(put.by is node for put in answers):
        return True
    body = code.entered(node) if isinstance(node, ast.Call) else None
    return (
        body is not None
        and body.place.syntax is code.syntax
        and any(code.syntax.owner(put.by) == body.function.qualname for put in answers)
    )
