"""What somebody says of a call decides all that follows from it: candidates, clients, questions."""

from pathlib import Path

import pytest

from art_adapt.source import read_source
from art_adapt.survey.calls.said import Said
from art_adapt.survey.survey import survey

AGENT = """\
from openai import OpenAI


class Assistant:
    def __init__(self, client: OpenAI) -> None:
        self._client = client

    def reply(self, text: str) -> str:
        label = self._screen(text)
        messages = [
            {"role": "system", "content": "You help. The message is " + label},
            {"role": "user", "content": text},
        ]
        completion = self._client.chat.completions.create(model="gpt-4o", messages=messages)
        return completion.choices[0].message.content or ""

    def _screen(self, text: str) -> str:
        completion = self._client.chat.completions.create(
            model="gpt-4o-mini", messages=[{"role": "user", "content": text}]
        )
        return completion.choices[0].message.content or ""
"""


@pytest.mark.parametrize("name", ["_screen", "Assistant._screen", "agent.py:18"])
def test_a_named_side_job_is_one_in_all_that_follows(tmp_path: Path, name: str) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(AGENT)
    found = survey([read_source(agent)], said=Said(auxiliary=(name,)))
    assert [each.called for each in found.entry_points] == ["Assistant.reply"]
    assert found.entry_points[0].shares_client  # episode() makes OpenAI() for it
    assert found.calls[1].reason == f"named: --auxiliary {name}"
    unsaid = survey([read_source(agent)])
    assert len(unsaid.entry_points) == 2 and not unsaid.entry_points[0].shares_client


def test_a_named_call_is_trained_whatever_it_is_called(tmp_path: Path) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(AGENT.replace("_screen", "_summarise"))
    assert len(survey([read_source(agent)]).entry_points) == 1
    said = Said(policy=("_summarise",))
    found = survey([read_source(agent)], said=said)
    assert {each.called for each in found.entry_points} == {
        "Assistant.reply",
        "Assistant._summarise",
    }
