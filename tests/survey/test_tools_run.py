"""Where tools are run: a call with what the model asked for, and nothing that looks like one."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from art_adapt.source import Source
from art_adapt.survey.survey import survey

AGENT = """\
import json

from openai import OpenAI

client = OpenAI()


def run(task, tools, may):
    messages = [{{"role": "user", "content": task}}]
    while True:
        message = client.chat.completions.create(model="m", messages=messages).choices[0].message
        messages.append(message)
        for call in message.tool_calls:
{body}
            messages.append({{"role": "tool", "tool_call_id": call.id, "content": out}})


{below}
"""


def tools(body: str, below: str = "") -> str | None:
    text = AGENT.format(body=indent(body, " " * 12), below=below)
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())]).files[0]
    return found.tool_execution and found.tool_execution.how


@pytest.mark.parametrize(
    ("body", "how"),
    [
        ('out = tools.run(call["function"]["name"], call["function"]["arguments"])', "handed to tools.run"),
        ('f = call.get("function", {})\nout = tools.go(f.get("name"), f.get("arguments"))', "handed to tools.go"),
        ("asked = json.loads(message.content)\nout = tools.go(asked['name'], asked['arguments'])", "handed to tools.go"),
        ("out = tools[call.function.name](**json.loads(call.function.arguments))", "looked up in tools"),
        ("out = 'unknown ' + call.function.name\nif tools.has(call.id):\n    out = tools.execute(call)", "handed to tools.execute"),
        ("ok = may(call)\nout = tools.execute(call) if ok else 'denied'", "handed to tools.execute"),
        ("out = json.dumps(tools.execute(call), **options)", "handed to tools.execute"),
    ],
)  # fmt: skip
def test_the_call_that_runs_one_is_found(body: str, how: str) -> None:
    assert tools(body) == how


@pytest.mark.parametrize(
    "body",
    [
        "out = format_output(tools.last)",
        "out = normalize(tools.last, **options)",
        "out = 'no: ' + approve(call)['reason']",
        "seen.add(call.function.name)\nout = 'ok'",
        "assert call.function.name == 'answer'\nout = 'ok'",
        "if call.function.name == 'answer':\n    print(json.loads(call.function.arguments))\nout = 'ok'",
    ],
)
def test_what_converts_compares_or_permits_runs_none(body: str) -> None:
    assert tools(body) is None


def test_code_that_no_episode_runs_says_nothing() -> None:
    below = """\
def old(call, messages, table):
    out = table[call.function.name](call.function.arguments)
    messages.append({"role": "tool", "content": out})
"""
    assert tools(
        "out = tools.go(call.function.name, call.function.arguments)", below
    ) == ("handed to tools.go")
    assert tools("out = 'ok'", below) is None
