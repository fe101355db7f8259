"""What ``super()`` leads to is the object's own: its class runs the episode, not the base."""

from __future__ import annotations

from pathlib import Path

import pytest

from art_adapt.source import Source
from art_adapt.survey.model import Survey
from art_adapt.survey.survey import survey

BASE = """\
from pathlib import Path

from openai import OpenAI


class Base:
    def run(self, question: str) -> str:
        messages = [{"role": "user", "content": question}]
        reply = OpenAI().chat.completions.create(model="m", messages=messages)
        return reply.choices[0].message.content


"""


def of(text: str) -> Survey:
    return survey([Source(Path("/nowhere/agent.py"), text.encode())])


@pytest.mark.parametrize(
    ("method", "entry"),
    [
        ("def run(self, q: str):\n        return super().run(f'Be brief. {q}').strip()", "Agent.run"),
        ("def run(self, q: str):\n        return super(Agent, self).run(q)", "Agent.run"),
        ("def run(self, q: str):\n        return Base.run(self, q)", "Agent.run"),
    ],
)  # fmt: skip
def test_a_class_that_extends_the_method_runs_the_episode(
    method: str, entry: str
) -> None:
    text = f"{BASE}class Agent(Base):\n    {method}\n\n\ndef main():\n    print(Agent().run(input()))\n"
    first = of(text).entry_points[0]
    assert (first.called, first.is_helper) == (entry, False)


def test_what_an_override_does_beside_is_an_obstacle() -> None:
    text = (
        f"{BASE}class Agent(Base):\n    def run(self, q: str):\n"
        "        Path('log').write_text(q)\n        return super().run(q)\n"
    )
    assert [e.what for e in of(text).files[0].effects] == ["Path('log').write_text()"]


def test_what_an_extended_method_does_is_an_obstacle() -> None:
    text = """\
from pathlib import Path

from openai import OpenAI


class Tools:
    def execute(self, arguments):
        Path(arguments["path"]).write_text(arguments["text"])


class Logged(Tools):
    def execute(self, arguments):
        print(arguments)
        return super().execute(arguments)


def run(question: str) -> str:
    tools = Logged()
    messages = [{"role": "user", "content": question}]
    while True:
        message = OpenAI().chat.completions.create(model="m", messages=messages).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            out = tools.execute(call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": out})
"""
    effects = of(text).files[0].effects
    assert [e.what for e in effects] == ["Path(arguments['path']).write_text()"]


def test_what_a_constructor_hands_up_is_known() -> None:
    text = """\
from openai import OpenAI


class Provider:
    def complete(self, messages):
        reply = OpenAI().chat.completions.create(model="m", messages=messages)
        return reply.choices[0].message.content


class Runner:
    def __init__(self, provider, limit=8):
        self.provider, self.limit = provider, limit

    def run(self, question: str) -> str:
        messages = [{"role": "user", "content": question}]
        for _ in range(self.limit):
            text = self.provider.complete(messages)
            messages.append({"role": "assistant", "content": text})
            if not text.startswith("TOOL"):
                return text
        return text


class Agent(Runner):
    def __init__(self):
        super().__init__(Provider())


def main():
    print(Agent().run(input()))
"""
    assert of(text).entry_points[0].called == "Agent.run"


def test_an_agent_that_extends_an_abstract_loop_is_no_provider() -> None:
    text = """\
from abc import ABC, abstractmethod

from openai import OpenAI


class Base(ABC):
    def run(self, request: str) -> str:
        self.messages = [{"role": "user", "content": request}]
        for _ in range(5):
            if not self.think():
                break
        return self.messages[-1]["content"]

    @abstractmethod
    def think(self) -> bool: ...


class Agent(Base):
    def think(self) -> bool:
        reply = OpenAI().chat.completions.create(model="m", messages=self.messages)
        self.messages.append(reply.choices[0].message)
        return bool(self.messages[-1].tool_calls)

    def run(self, request: str) -> str:
        return super().run(request).strip()
"""
    first = of(text).entry_points[0]
    assert (first.called, first.is_helper) == ("Agent.run", False)
