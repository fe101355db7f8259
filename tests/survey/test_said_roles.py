"""What somebody says of a call decides all that follows from it: candidates, clients, questions."""

from pathlib import Path

import pytest
from agent_files import art_adapt

from art_adapt.source import read_source
from art_adapt.survey.calls.said import Said, asks_another_model
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


LOOPING = """\
import os

from openai import OpenAI

client = OpenAI()
MODEL = "gpt-4o"
SMALL_MODEL = "gpt-4o-mini"


def run(text, config, model="gpt-4o"):
    messages = [{{"role": "user", "content": shorten(text, config, model)}}]
    for _ in range(5):
        reply = client.chat.completions.create(model={turns}, messages=messages, tools=[])
        messages.append(reply.choices[0].message)
        if not reply.choices[0].message.tool_calls:
            return reply.choices[0].message.content


def shorten(text, config, model):
    asked = [{{"role": "user", "content": text}}]
    reply = client.chat.completions.create(model={beside}, messages=asked)
    return reply.choices[0].message.content
"""


@pytest.mark.parametrize(
    ("turns", "beside", "other"),
    [
        ('"gpt-4o"', '"gpt-4o-mini"', True),
        ("MODEL", "SMALL_MODEL", True),
        ("MODEL", '"gpt-4o-mini"', True),
        ('"gpt-4o"', '"gpt-4o"', False),
        ("MODEL", '"gpt-4o"', False),
        ("model", "SMALL_MODEL", True),  # by the parameter's default
        ('os.getenv("MODEL", "gpt-4o")', 'os.getenv("SMALL", "gpt-4o-mini")', True),
        ('os.getenv("MODEL")', 'os.getenv("SMALL", "gpt-4o-mini")', False),
        ("text", "SMALL_MODEL", False),  # who knows what is given
        ("config.model", "config.small_model", False),
    ],
)
def test_a_request_of_another_model_is_a_question(
    turns: str, beside: str, other: bool, tmp_path: Path
) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(LOOPING.format(turns=turns, beside=beside))
    calls = survey([read_source(agent)]).calls
    assert [asks_another_model(each, calls) for each in calls] == [False, other]


CHECKED = """\
from openai import OpenAI

client = OpenAI()


def check(draft):
{begins}
    return reply.choices[0].message.content


def run(text):
    messages = [{{"role": "user", "content": text}}]
    for _ in range(5):
        reply = client.chat.completions.create(model="gpt-4o", messages=messages)
        draft = reply.choices[0].message.content
        messages.append({{"role": "assistant", "content": draft}})
        verdict = check({given})
        if verdict == "OK":
            return draft
        messages.append({{"role": "user", "content": verdict}})
"""
ASKS = '    reply = client.chat.completions.create(model="gpt-4o-mini", messages={})'
SAYS = '[{"role": "user", "content": draft}]'


@pytest.mark.parametrize(
    ("begins", "given", "other"),
    [
        (ASKS.format(SAYS), "draft", True),
        (f"    asked = {SAYS}\n{ASKS.format('asked')}", "draft", True),
        (ASKS.format(SAYS[:-1] + ", " + SAYS[1:]), "draft", True),
        # It goes on with the conversation: another model takes a turn of it.
        (ASKS.format("draft"), "messages", False),
        (ASKS.format(SAYS).replace("-mini", ""), "draft", False),
    ],
)
def test_a_checker_between_the_turns_is_a_question(
    begins: str, given: str, other: bool, tmp_path: Path
) -> None:
    """A loop asks it again as well, each time in a conversation that begins there."""
    agent = tmp_path / "agent.py"
    agent.write_text(CHECKED.format(begins=begins, given=given))
    calls = survey([read_source(agent)]).calls
    assert [asks_another_model(each, calls) for each in calls] == [other, False]


@pytest.mark.parametrize(
    ("option", "accepted"), [("--auxiliary", True), ("--policy", False)]
)
def test_a_function_that_leads_to_no_request_is_said_to_lead_to_none(
    option: str, accepted: bool, tmp_path: Path
) -> None:
    """A run may have shown what cannot be read: a side job, and no turn."""
    (tmp_path / "agent.py").write_text(
        f"{AGENT}\n\ndef tidy(text):\n    return text.upper()\n"
    )
    done = art_adapt("--diff", option, "tidy", "agent.py", cwd=tmp_path)
    said = done.stderr.decode()
    assert done.returncode == (1 if accepted else 2)
    assert ("no path from it to this request was read" in said) is accepted
    assert ("no completion call is named 'tidy'" in said) is not accepted


def test_a_side_job_in_the_function_of_a_turn_is_named_by_its_place(
    tmp_path: Path,
) -> None:
    """The function's name would take the turn as well. While training, its model tells it."""
    (tmp_path / "agent.py").write_text(
        "from openai import OpenAI\n\nclient = OpenAI()\n\n\n"
        "def ask(question: str) -> str:\n"
        '    messages = [{"role": "user", "content": question}]\n'
        '    reply = client.chat.completions.create(model="gpt-5", messages=messages, tools=[])\n'
        "    messages.append(reply.choices[0].message)\n"
        '    short = client.chat.completions.create(model="gpt-4o-mini", messages=messages)\n'
        "    return short.choices[0].message.content\n"
    )
    said = art_adapt("--diff", "--isolated", "agent.py", cwd=tmp_path).stderr.decode()
    assert "--auxiliary agent.py:10 keeps it out of training" in said
    named = ("--diff", "--isolated", "--auxiliary", "agent.py:10", "agent.py")
    patch = art_adapt(*named, cwd=tmp_path).stdout.decode()
    assert '+AUXILIARY: tuple[str, ...] = ("gpt-4o-mini",)' in patch
    assert (
        patch.count("+    reply = recorded(") == 1 and "short = recorded(" not in patch
    )
    # A model that a turn asks as well must not be named: its turn would stay out, too.
    agent = tmp_path / "agent.py"
    agent.write_text(agent.read_text().replace('"gpt-4o-mini"', '"gpt-5"'))
    patch = art_adapt(*named, cwd=tmp_path).stdout.decode()
    assert '+AUXILIARY: tuple[str, ...] = ("ask",)' in patch
