"""What a name holds where it stands, in the order of the statements."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from art_adapt.source import Source
from art_adapt.survey.calls.roles import Role
from art_adapt.survey.survey import survey

START = """\
from openai import OpenAI

client = OpenAI()
TOOLS = []


def look(text):
    return text


def run(question):
    messages = [{"role": "user", "content": question}]
"""
LOOP = """\
for _ in range(5):
    {asking}
    messages.append(reply)
    if not reply.tool_calls:
        break
    for call in reply.tool_calls:
        said = look(call.function.arguments)
        messages.append({{"role": "tool", "tool_call_id": call.id, "content": said}})
"""
REPLY = "reply = client.chat.completions.create(**options).choices[0].message"
OTHER = '[{"role": "user", "content": question}]'
# How the loop asks, and how the moderation does; both by the same names.
SPELLINGS = {
    "a dict": (
        f'options = {{"model": "gpt", "messages": messages, "tools": TOOLS}}; {REPLY}',
        f'options = {{"model": "omni-moderation-latest", "messages": {OTHER}}}\n'
        "client.chat.completions.create(**options)",
    ),
    "a call of dict": (
        f'options = dict(model="gpt", messages=messages, tools=TOOLS); {REPLY}',
        f'options = dict(model="omni-moderation-latest", messages={OTHER})\n'
        "client.chat.completions.create(**options)",
    ),
    "annotated": (
        f'options: dict = {{"model": "gpt", "messages": messages, "tools": TOOLS}}; {REPLY}',
        f'options: dict = {{"model": "omni-moderation-latest", "messages": {OTHER}}}\n'
        "client.chat.completions.create(**options)",
    ),
    "within the call": (
        'reply = client.chat.completions.create(**(options := {"model": "gpt", '
        '"messages": messages, "tools": TOOLS})).choices[0].message',
        f'options = {{"model": "omni-moderation-latest", "messages": {OTHER}}}\n'
        "client.chat.completions.create(**options)",
    ),
    "a model's name": (
        'model = "gpt"; reply = client.chat.completions.create('
        "model=model, messages=messages, tools=TOOLS).choices[0].message",
        'model = "omni-moderation-latest"\n'
        f"client.chat.completions.create(model=model, messages={OTHER})",
    ),
    "a branch": (
        f'options = {{"model": "gpt", "messages": messages, "tools": TOOLS}}; {REPLY}',
        f'if question:\n    options = {{"model": "omni-moderation", "messages": {OTHER}}}\n'
        f'else:\n    options = {{"model": "omni-moderation", "messages": {OTHER}}}\n'
        "client.chat.completions.create(**options)",
    ),
}


@pytest.mark.parametrize("loop_first", [True, False])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_name_that_is_used_again_is_another_request(
    spelling: str, loop_first: bool
) -> None:
    asking, moderating = SPELLINGS[spelling]
    parts = [LOOP.format(asking=asking), moderating + "\n"]
    body = "".join(parts if loop_first else reversed(parts)) + "return reply.content\n"
    found = survey(
        [Source(Path("/nowhere/agent.py"), (START + indent(body, "    ")).encode())]
    )
    roles = {call.role for call in found.calls if call.loop is not None}
    others = {call.role for call in found.calls if call.loop is None}
    assert (roles, others) == ({Role.POLICY}, {Role.AUXILIARY})


@pytest.mark.parametrize(
    "taken",
    [
        "api = store\n    api.create(row=question)",
        "api: Store = store\n    api.create(row=question)",
        "(api := store).create(row=question)\n    api.create(row=question)",
        "for api in [store]:\n        api.create(row=question)",
        "with store as api:\n        api.create(row=question)",
    ],
)
def test_an_object_of_the_same_name_gets_no_hook(taken: str) -> None:
    text = dedent(
        """\
        from openai import OpenAI
        from stores import Store

        client, store = OpenAI(), Store()


        def run(question):
            messages = [{"role": "user", "content": question}]
            api = client.chat.completions
            answer = api.create(model="m", messages=messages)
        """
    )
    text += f"    {taken}\n    return answer.choices[0].message.content\n"
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())])
    assert [call.place.line for call in found.calls] == [10]
