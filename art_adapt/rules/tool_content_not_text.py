"""A tool message has no text as its content, so a request or model.log fails

The content of a tool message is a text, or a list of parts. A server that validates requests
refuses a number or a boolean, and OpenAI's API refuses a dictionary as well. ``model.log`` of ART
0.5.18 ends with an ArrowTypeError.

Write ``json.dumps(result)`` or ``str(result)``.

Evidence: openai 2.x and 3.x, types/chat/chat_completion_tool_message_param.py; art 0.5.18,
utils/trajectory_logging.py:36-43.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import dotted
from art_adapt.rules.code import Code, Value
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART214", "tool-content-not-text", Severity.WASTE)
BAD = (
    """\
import art

async def rollout(client, model, look):
    trajectory = art.Trajectory(tools=TOOLS)
    for _ in range(5):
        response = await client.chat.completions.create(
            model="m", messages=trajectory.messages(), tools=TOOLS
        )
        choice = response.choices[0]
        trajectory.messages_and_choices.append(choice)
        for call in choice.message.tool_calls or []:
            result = {"found": look(call)}
            trajectory.messages_and_choices.append(
                {"role": "tool", "tool_call_id": call.id, "content": result}  # <-
            )
            trajectory.messages_and_choices.append(
                {"role": "tool", "tool_call_id": call.id, "content": True}  # <-
            )
    return trajectory
""",
)
GOOD = (
    """\
import art, json

async def rollout(client, model, look):
    trajectory = art.Trajectory(tools=TOOLS)
    for _ in range(5):
        response = await client.chat.completions.create(
            model="m", messages=trajectory.messages(), tools=TOOLS
        )
        choice = response.choices[0]
        trajectory.messages_and_choices.append(choice)
        for call in choice.message.tool_calls or []:
            result = {"found": look(call)}
            trajectory.messages_and_choices.append(
                {"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)}
            )
            trajectory.messages_and_choices.append(
                {"role": "tool", "tool_call_id": call.id, "content": [{"type": "text", "text": ""}]}
            )
            trajectory.messages_and_choices.append(
                {"role": "tool", "tool_call_id": call.id, "content": look(call)}
            )
    return trajectory
""",
)
MAKING = ("dict", "set", "tuple", "len", "int", "float", "bool")


def check(code: Code) -> Iterator[Found]:
    if "tool_call_id" not in code.source.text:
        return
    said = set[ast.AST]()
    for put in code.trajectories.puts:
        role = code.contents.item(put.value, "role").values
        content = code.contents.item(put.value, "content")
        values = list(content.values)
        written = [each.node for each in content.written if code.has(each)]
        at = written[0] if written else put.at
        if (
            [code.constant(each) for each in role] == ["tool"]
            and values
            and all(map(_is_no_text, values))
            and at not in said
        ):
            said.add(at)
            yield found(
                at,
                "the content of a tool message must be text: the next request or model.log fails; "
                "write json.dumps(...) or str(...)",
            )


def _is_no_text(value: Value) -> bool:
    node = value.node
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float)
    if isinstance(node, ast.Call):
        return dotted(node.func) in MAKING
    return isinstance(node, ast.Dict | ast.DictComp | ast.Set | ast.SetComp | ast.Tuple)
