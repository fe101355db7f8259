"""A branch that the name of a requested tool chooses is where the tools run, however it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from art_adapt.source import Source
from art_adapt.survey.survey import survey

START = """\
def run(client, messages):
    while True:
        message = client.chat.completions.create(messages=messages).choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message)
        for call in message.tool_calls:
"""
END = """\
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
"""
CHAIN = """\
if NAME == "look":
    result = look(text)
elif NAME == "rate":
    result = rate(text)
else:
    result = "unknown tool"
"""
MATCH = """\
match NAME:
    case "look":
        result = look(text)
    case "rate":
        result = rate(text)
    case _:
        result = "unknown tool"
"""
WAYS = {
    "the call's own": ("text = call.function.arguments", "call.function.name"),
    "a name": ("text = call.function.arguments\nname = call.function.name", "name"),
    "the function has a name": (
        "function = call.function\ntext = function.arguments",
        "function.name",
    ),
    "both have": (
        "function = call.function\nname, text = function.name, function.arguments",
        "name",
    ),
    "one of two functions": (
        "if call.function:\n    function = call.function\nelse:\n    function = message.function_call\n"
        "text = function.arguments\nname = function.name",
        "name",
    ),
}


@pytest.mark.parametrize(
    ("chain", "first", "how"),
    [
        (CHAIN, 'if NAME == "look":', "chosen by comparing the name"),
        (MATCH, "match NAME:", "chosen by matching the name"),
    ],
)
@pytest.mark.parametrize("way", WAYS)
def test_tools_run_in_the_branches(way: str, chain: str, first: str, how: str) -> None:
    before, name = WAYS[way]
    body = f"{before}\n{chain}".replace("NAME", name)
    inside = "".join(f"            {line}\n" for line in body.splitlines())
    text = START + inside + END
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())])
    execution = found.files[0].tool_execution
    assert execution is not None and execution.how == how
    line = text.splitlines()[execution.place.line - 1]
    assert line.strip() == first.replace("NAME", name)
