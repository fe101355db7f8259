"""An agent is made as its class allows: by a classmethod, or with what it does not leave abstract."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import art_adapt

AGENT = """\
import sys

from openai import OpenAI


def client_of(profile):
    return OpenAI(organization=profile)


class Chat:
    def __init__(self, client: OpenAI, model: str):
        self.client, self.model = client, model


class Desk:
    def __init__(self, chat: Chat, tone: str):
        self.chat, self.tone = chat, tone

    @classmethod
    def from_profile(cls, profile="default"):
        client = client_of(profile)
        return cls(Chat(client, "m"), "polite")

    def solve(self, text: str) -> str:
        messages = [{"role": "system", "content": self.tone}, {"role": "user", "content": text}]
        reply = self.chat.client.chat.completions.create(model=self.chat.model, messages=messages)
        return reply.choices[0].message.content
"""


@pytest.mark.parametrize(
    ("use", "made"),
    [
        ("print(Desk.from_profile(sys.argv[1]).solve(sys.argv[2]))", "Desk.from_profile("),
        ("desk = Desk.from_profile()\n    print(desk.solve(sys.argv[1]))", "Desk.from_profile()"),
        ("pass", "Desk("),
    ],
)  # fmt: skip
def test_the_classmethod_that_the_project_calls(
    use: str, made: str, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(f"{AGENT}\n\ndef main():\n    {use}\n")
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert f"agent = {made}" in (tmp_path / "agent_train.py").read_text()


BASE = """\
import abc

from openai import OpenAI


class Base(abc.ABC):
    def __init__(self, client: OpenAI | None = None):
        self.client = client or OpenAI()

    @property
    @abc.abstractmethod
    def prompt(self) -> str: ...

    def handle(self, text: str) -> str:
        messages = [{"role": "system", "content": self.prompt}, {"role": "user", "content": text}]
        reply = self.client.chat.completions.create(model="m", messages=messages)
        return reply.choices[0].message.content
"""
HAS_PROMPT = {
    "attribute": "class Own(Base):\n    prompt = 'Be brief.'\n",
    "annotated": "class Own(Base):\n    prompt: str = 'Be brief.'\n",
    "property": "class Own(Base):\n    @property\n    def prompt(self):\n        return 'Be brief.'\n",
    "of a mixin": "class Brief:\n    prompt = 'Be brief.'\n\n\nclass Own(Brief, Base):\n    pass\n",
    "of its base": "class Brief(Base):\n    prompt = 'Be brief.'\n\n\nclass Own(Brief):\n    pass\n",
}


@pytest.mark.parametrize("kind", HAS_PROMPT)
@pytest.mark.parametrize("named", ["base.py", "own.py"])
def test_an_abstract_property_may_be_an_attribute_of_the_class(
    kind: str, named: str, tmp_path: Path
) -> None:
    (tmp_path / "base.py").write_text(BASE)
    (tmp_path / "own.py").write_text(
        f"from base import Base\n\n\n{HAS_PROMPT[kind]}\n\n"
        "if __name__ == '__main__':\n    print(Own().handle(input()))\n"
    )
    done = art_adapt("--isolated", named, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    module = next(tmp_path.glob("*_train.py")).read_text()
    assert "agent = Own(client=client)" in module


def test_a_declared_attribute_implements_nothing(tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text(BASE)
    (tmp_path / "own.py").write_text(
        "from base import Base\n\n\nclass Own(Base):\n    prompt: str\n\n\n"
        "if __name__ == '__main__':\n    print(Own().handle(input()))\n"
    )
    done = art_adapt("--diff", "own.py", cwd=tmp_path)
    assert b"agent = Own(" not in done.stdout


KIT = """\
from openai import OpenAI


class Agent:
    def __init__(self, prompt: str):
        self.messages = [{"role": "system", "content": prompt}]

    def chat(self, message: str) -> str:
        self.messages.append({"role": "user", "content": message})
        reply = OpenAI().chat.completions.create(model="m", messages=self.messages)
        return reply.choices[0].message.content


class Coder(Agent):
    def __init__(self, name: str = "Coder", language: str | None = None):
        super().__init__(f"You are {name}: {language}")

"""
USERS = {
    "a subclass": ("Coder(language='Python')", 'Coder(language="Python")'),
    "the class itself": ("Agent('Be brief.')", 'Agent(prompt="Be brief.")'),
    "both": (
        "Agent('Be brief.') if input() else Coder()",
        'Agent(prompt="Be brief.")',
    ),
}


@pytest.mark.parametrize("kind", USERS)
def test_the_class_that_another_file_makes_is_the_agent_s(
    kind: str, tmp_path: Path
) -> None:
    """The base class is never made: it would have no prompt."""
    used, made = USERS[kind]
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "kit.py").write_text(KIT)
    (tmp_path / "main.py").write_text(
        f"import sys\nfrom kit import Agent, Coder\n\n\ndef main():\n    agent = {used}\n"
        "    print(agent.chat(sys.argv[1]))\n\n\nmain()\n"
    )
    done = art_adapt("--isolated", "kit.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    written = (tmp_path / "kit_train.py").read_text()
    assert f"agent = {made}" in written, written.partition("def episode")[2][:300]
