"""Whose method a call is: the client's, through whatever the project keeps it in, or another object's."""

from __future__ import annotations

from pathlib import Path

import pytest

from art_adapt.calls import Api
from art_adapt.source import Source
from art_adapt.survey.model import Survey
from art_adapt.survey.survey import survey

START = "from openai import OpenAI\n\nclient = OpenAI()\n\n\n"
GIVEN = "model='m', messages=messages"


def of(text: str) -> Survey:
    return survey([Source(Path("/nowhere/agent.py"), (START + text).encode())])


@pytest.mark.parametrize(
    "text",
    [
        # Another class has an attribute of the same name.
        "class Store:\n    def __init__(self, db):\n        self.api = db\n"
        "    def save(self, row):\n        self.api.create(row=1)\n\n"
        "class Agent:\n    def __init__(self):\n        self.api = client.chat.completions\n"
        f"    def run(self, messages):\n        return self.api.create({GIVEN})\n",
        # A function returns a part of the client.
        "def chat():\n    return client.chat\n\n"
        f"def run(messages):\n    return chat().completions.create({GIVEN})\n",
        # An object keeps it.
        "class Llm:\n    def __init__(self):\n        self.completions = client.chat.completions\n\n"
        "class Agent:\n    def __init__(self):\n        self.llm = Llm()\n"
        f"    def run(self, messages):\n        return self.llm.completions.create({GIVEN})\n",
        # A property gives it.
        "class Llm:\n    @property\n    def chat(self):\n        return client.chat\n\n"
        f"def run(messages):\n    return Llm().chat.completions.create({GIVEN})\n",
    ],
)
def test_one_call_is_a_chat_completion_of_the_client(text: str) -> None:
    (call,) = of(text).calls
    assert call.api is Api.CHAT and call.function.endswith("run")


def test_a_method_that_another_class_keeps_leads_to_the_model() -> None:
    found = of(
        "class Llm:\n    def __init__(self):\n        self.ask = client.chat.completions.create\n\n"
        "class Agent:\n    def __init__(self):\n        self.llm = Llm()\n"
        "    def run(self, task):\n        messages = [dict(role='user', content=task)]\n"
        f"        return self.llm.ask({GIVEN}).choices[0].message.content\n"
    )
    assert found.entry_points[0].name == "Agent.run"
