"""A chat that is told its history and a message starts a turn; one that sends the history does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from art_adapt.source import Source
from art_adapt.survey.survey import survey

CHAT = """\
from openai import OpenAI

client = OpenAI()


def chat(message, history):
    messages = [{{"role": "system", "content": "Help."}}]
{adding}
    return client.chat.completions.create(model="m", messages=messages).choices[0].message.content
"""
OWN = '    messages.append({"role": "user", "content": message})'
LOOP = '    for each in history:\n        messages.append({"role": "user", "content": each})'


@pytest.mark.parametrize(
    ("adding", "is_step"),
    [
        (f"{LOOP}\n{OWN}", False),
        (f"    messages.extend(history)\n{OWN}", False),
        (f"    messages += history\n{OWN}", False),
        (
            '    messages = messages + history + [{"role": "user", "content": f"Q: {message}"}]',
            False,
        ),
        (LOOP, True),
        ("    messages.extend(history)", True),
    ],
)
def test_a_chat_that_is_told_more_than_its_history_is_no_step(
    adding: str, is_step: bool
) -> None:
    """It writes the message of this turn; one that sends the history only makes a turn."""
    text = CHAT.format(adding=adding)
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())])
    assert ("only_sends" in found.entry_points[0].features) == is_step
