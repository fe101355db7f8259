"""A client is known by how it is made, whatever it is called and wherever that is."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import art_adapt

# A file that makes the client, and how the agent reaches it.
MADE = {
    "a private attribute": (
        "class LLM:\n    def __init__(self):\n        self._inner = OpenAI()\n",
        "LLM()._inner",
    ),
    "an attribute of its own name": (
        "class LLM:\n    def __init__(self):\n        self.api = OpenAI(timeout=9)\n",
        "LLM().api",
    ),
    "a variable of the module": ("LLM = OpenAI()\n", "LLM"),
    "a function": ("def LLM():\n    return OpenAI()\n", "LLM()"),
    "an alias": (
        "class LLM:\n    def __init__(self):\n        made = OpenAI()\n        self.wire = made\n",
        "LLM().wire",
    ),
}
AGENT = """\
from llm import LLM


class Agent:
    def __init__(self):
        self.wire = {reached}

    def process(self, text: str) -> str:
        reply = self.wire.responses.create(model="gpt-4o", input=text)
        return reply.output_text
"""


@pytest.mark.parametrize("kind", MADE)
def test_a_client_that_another_file_makes_is_one(kind: str, tmp_path: Path) -> None:
    made, reached = MADE[kind]
    (tmp_path / "llm.py").write_text(f"from openai import OpenAI\n\n{made}")
    (tmp_path / "agent.py").write_text(AGENT.format(reached=reached))
    done = art_adapt("--isolated", "agent.py", "--diff", cwd=tmp_path)
    said = done.stdout.decode() + done.stderr.decode()
    assert "policy call agent.py:9" in said, said


@pytest.mark.parametrize(
    "made",
    [
        "class LLM:\n    def __init__(self):\n        self._inner = make()\n",
        "import other\n\n\nclass LLM:\n    def __init__(self):\n        self._inner = other.Client()\n",
    ],
)
def test_what_is_made_otherwise_is_not_taken_for_one(made: str, tmp_path: Path) -> None:
    (tmp_path / "llm.py").write_text(made)
    (tmp_path / "agent.py").write_text(AGENT.format(reached="LLM()._inner"))
    done = art_adapt("--isolated", "agent.py", "--diff", cwd=tmp_path)
    assert b"policy call" not in done.stdout
