"""A request that begins with another conversation's messages goes on with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from art_adapt.source import read_source
from art_adapt.survey.survey import survey

AGENT = """\
from openai import OpenAI

client = OpenAI()
EXAMPLES = [{"role": "user", "content": "Hello"}]


def complete(messages, tools=None):
    return client.chat.completions.create(model="m", messages=messages, tools=tools).choices[0].message


class Desk:
    def __init__(self):
        self.messages = []

    def run(self, task: str) -> str:
        messages = self.messages = [{"role": "user", "content": task}]
        for _ in range(4):
            reply = complete(messages, TOOLS)
            messages.append(reply)
            if not reply.tool_calls:
                return reply.content
            for call in reply.tool_calls:
                messages.append({"role": "tool", "tool_call_id": call.id, "content": "a door"})
        return self.closing(messages, task)

    def closing(self, messages, task):
        BODY
        return complete(asked).content
"""
LAST = '{"role": "user", "content": "Write it now."}'
GOES_ON = {
    "a parameter": f"asked = [*messages, {LAST}]",
    "an attribute": f"asked = [*self.messages, {LAST}]",
    "two lists": f"asked = [*messages, *[{LAST}]]",
}
BEGINS = {
    "a list of its own": 'asked = [{"role": "user", "content": f"Sum up: {task}"}]',
    "examples": 'asked = [*EXAMPLES, {"role": "user", "content": f"Sum up: {task}"}]',
    "other instructions": 'asked = [{"role": "system", "content": "Sum up."}, *messages]',
}


def beside(tmp_path: Path, body: str) -> list[str]:
    (tmp_path / "agent.py").write_text(AGENT.replace("BODY", body))
    (call,) = survey([read_source(tmp_path / "agent.py")]).calls
    return [each.function for each in call.askers if each.apart]


@pytest.mark.parametrize("kind", GOES_ON)
def test_a_last_request_of_the_conversation_is_no_other_one(
    kind: str, tmp_path: Path
) -> None:
    assert beside(tmp_path, GOES_ON[kind]) == []


@pytest.mark.parametrize("kind", BEGINS)
def test_a_request_that_begins_there_is_named(kind: str, tmp_path: Path) -> None:
    assert beside(tmp_path, BEGINS[kind]) == ["Desk.closing"]
