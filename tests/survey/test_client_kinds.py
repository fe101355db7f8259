"""The class of the client that an agent is given follows from how it asks with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import art_adapt

CREATE = "{client}.chat.completions.create(model='m', messages=[{{'role': 'user', 'content': text}}])"
GIVEN = CREATE.format(client="ai")
KEPT = CREATE.format(client="self.ai")
AGENTS = {
    "read at once in an async function": (
        f"async def run(text, ai):\n    return {GIVEN}.choices[0].message.content\n",
        "OpenAI",
    ),
    "read at once in an async method": (
        "class Agent:\n    def __init__(self, ai):\n        self.ai = ai\n\n"
        f"    async def run(self, text):\n        return {KEPT}.choices[0].message.content\n",
        "OpenAI",
    ),
    "awaited": (
        f"async def run(text, ai):\n    reply = await {GIVEN}\n    return reply.choices[0].message.content\n",
        "AsyncOpenAI",
    ),
    "awaited after a while": (
        f"async def run(text, ai):\n    asked = {GIVEN}\n    return (await asked).choices[0].message.content\n",
        "AsyncOpenAI",
    ),
    "awaited, whatever its annotation says": (
        "import openai\n\n\n"
        f"async def run(text, ai: openai.OpenAI):\n    reply = await {GIVEN}\n    return reply.choices[0].message.content\n",
        "AsyncOpenAI",
    ),
    "awaited by a function that it is handed to": (
        "import openai\n\n\n"
        f"async def ask(ai: openai.OpenAI, text):\n    reply = await {GIVEN}\n    return reply.choices[0].message.content\n\n\n"
        "async def run(text, ai: openai.OpenAI):\n"
        "    plan = await ask(ai, f'Plan {text}')\n    return await ask(ai, f'{text} by {plan}')\n",
        "AsyncOpenAI",
    ),
    "in a plain function": (
        f"def run(text, ai):\n    reply = {GIVEN}\n    return reply.choices[0].message.content\n",
        "OpenAI",
    ),
}


@pytest.mark.parametrize("name", AGENTS)
def test_the_client_is_of_the_class_that_the_agent_asks_with(
    name: str, tmp_path: Path
) -> None:
    agent, kind = AGENTS[name]
    (tmp_path / "agent.py").write_text(agent)
    done = art_adapt("--diff", "agent.py", cwd=tmp_path)
    assert f"client = {kind}(**training.policy_endpoint())" in done.stdout.decode()
