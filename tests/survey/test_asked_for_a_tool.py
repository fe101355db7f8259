"""A request that a branch for one tool makes is a side job; what goes on with the turn is not."""

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
TOOLS = [{{"type": "function", "function": {{"name": "search"}}}}]


def pick(text):
    asked = [{{"role": "user", "content": text}}]
    return client.chat.completions.create(model="m", messages=asked).choices[0].message.content


def run(task):
    messages = [{{"role": "user", "content": task}}]
    while True:
        message = client.chat.completions.create(model="m", messages=messages, tools=TOOLS).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            name = call.function.name
            arguments = json.loads(call.function.arguments)
{running}
            messages.append({{"role": "tool", "tool_call_id": call.id, "content": found}})
"""
ASKED = (
    "asked = [{'role': 'user', 'content': 'Pick one of ' + arguments['text']}]\n"
    "found = client.chat.completions.create(model='m', messages=asked).choices[0].message.content\n"
)
INSIDE = indent(ASKED, "    ")
DEEPER = indent(ASKED, "        ")
SIDE_JOBS = {
    "if": f"found = ''\nif call.function.name == 'search':\n{INSIDE}",
    "elif": f"if name == 'save':\n    found = 'saved'\nelif name == 'search':\n{INSIDE}",
    "match": f"match call.function.name:\n    case 'search':\n{DEEPER}    case _:\n        found = 'no such tool'\n",
    "match on a variable": f"match name:\n    case 'search':\n{DEEPER}    case _:\n        found = 'no such tool'\n",
    "below a condition": f"found = ''\nif name == 'search':\n    if arguments:\n{DEEPER}",
}
ANSWERED = (
    "messages.append({'role': 'tool', 'tool_call_id': call.id, 'content': 'open'})\n"
)
NEXT = "asked = [*messages]\nfound = client.chat.completions.create(model='m', messages=asked).choices[0].message.content\n"
TURNS = {
    "the next turn, in the branch": f"if name == 'search':\n{indent(ANSWERED + NEXT, '    ')}",
    "a conversation that begins with a reply": "if name == 'search':\n"
    "    asked = [{'role': 'user', 'content': task}, {'role': 'assistant', 'content': message.content}]\n"
    "    found = client.chat.completions.create(model='m', messages=asked).choices[0].message.content\n",
    "a branch that answers": f"if name == 'search':\n{INSIDE}    return found\n",
    "any other name": f"match name:\n    case 'stop':\n        found = ''\n    case _:\n{DEEPER}",
    "beside the branch": f"if name == 'search':\n    found = 'nothing'\n{ASKED}",
    "in the else of it": f"if name == 'stop':\n    found = ''\nelse:\n{INSIDE}",
}


def roles(running: str) -> dict[int, str]:
    text = AGENT.format(running=indent(running, " " * 12))
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())])
    lines = text.splitlines()
    return {
        number: call.role
        for call in found.files[0].calls
        for number in [call.place.line]
        if "messages=asked" in lines[number - 1] and number > 15
    }


@pytest.mark.parametrize("running", SIDE_JOBS.values(), ids=SIDE_JOBS)
def test_what_one_tool_asks_is_a_side_job(running: str) -> None:
    assert list(roles(running).values()) == ["auxiliary"]


@pytest.mark.parametrize("running", TURNS.values(), ids=TURNS)
def test_what_is_asked_after_any_tool_is_the_agents(running: str) -> None:
    assert list(roles(running).values()) == ["policy"]
