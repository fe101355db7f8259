"""A classmethod makes the agent in episodes, if the project makes it so."""

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
