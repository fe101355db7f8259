"""What OpenAI keeps of a request cannot be recorded, and is said before a rollout meets it."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import art_adapt

from art_adapt.source import Source
from art_adapt.survey.survey import survey

ASKS = """\
from openai import OpenAI

client = OpenAI()


def answer(message: str, kept: str) -> str:
    response = client.responses.create(model="m", input=message, {given})
    return response.output_text
"""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ('prompt={"id": "pmpt_1"}', "prompt="),
        ("conversation=kept", "conversation="),
        ("background=True", "background="),
        ("background=False", None),
        ("conversation=None", None),
        ("instructions=kept", None),
    ],
)
def test_a_part_of_a_request_that_openai_keeps(given: str, said: str | None) -> None:
    source = Source(Path("/nowhere/agent.py"), ASKS.format(given=given).encode())
    named = [each.what.partition(" ")[0] for each in survey([source]).obstacles]
    assert named == ([said] if said else [])


def test_the_assistants_api_is_named(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        "from openai import OpenAI\n\nclient = OpenAI()\n\n\ndef ask(thread, message):\n"
        "    run = client.beta.threads.runs.create(thread_id=thread, assistant_id='a')\n"
        "    return client.beta.threads.messages.list(thread_id=thread)\n"
    )
    done = art_adapt("agent.py", cwd=tmp_path)
    assert done.returncode == 2
    said = done.stderr.decode()
    assert "agent.py:7: the model is called through the Assistants API" in said
    assert "next: OpenAI runs its loop" in said
