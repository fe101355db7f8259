"""A rehearsal runs an episode whose model refuses, and says what the code answered by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_files import art_adapt, first_now
from test_rehearse import rehearse

from art_adapt.rehearsal.seen import shortened

HEAD = """\
import json

from openai import OpenAI

client = OpenAI()
FALLBACK = "The order will arrive within two weeks."


def ask(text, model="m"):
    asked = [{"role": "user", "content": text}]
    reply = client.chat.completions.create(model=model, messages=asked)
    return reply.choices[0].message.content


"""
RUN = "def run(question: str):\n"
# What the agent answers where its model refuses.
OWN = {
    "in an except": RUN
    + "    try:\n        return json.loads(ask(question))['answer']\n"
    + "    except ValueError:\n        return FALLBACK\n",
    "in a helper": "def parsed(text):\n    return text[5:] if text.startswith('JSON:') else FALLBACK\n\n\n"
    + RUN
    + "    return parsed(ask(question))\n",
    "after some tries": RUN
    + "    for _ in range(3):\n        said = ask(question)\n        if said.startswith('{'):\n"
    + "            return said\n    return FALLBACK\n",
    "as a record": RUN
    + "    try:\n        return dict(json.loads(ask(question)))\n    except Exception:\n"
    + "        return {'summary': FALLBACK, 'risk': 'low'}\n",
    "where something is missing": RUN
    + "    found = [each for each in ask(question).splitlines() if each.startswith('-')]\n"
    + "    return '\\n'.join(found) or FALLBACK\n",
}
# Answers that the model gave, and none.
OF_THE_MODEL = {
    "the reply": RUN + "    return ask(question)\n",
    "in a record": RUN + "    return {'text': ask(question), 'length': 3}\n",
    "in capitals": RUN + "    return ask(question).upper()\n",
    "an error": RUN + "    return json.loads(ask(question))['answer']\n",
    "nothing": RUN
    + "    said = ask(question)\n    return said if said.startswith('JSON') else ''\n",
    "another model's": "def sum_up(said):\n    asked = [{'role': 'user', 'content': said}]\n"
    "    reply = client.chat.completions.create(model='other', messages=asked)\n"
    "    return reply.choices[0].message.content\n\n\n"
    + RUN
    + "    said = ask(question)\n    return sum_up('Sum up.') if said else ''\n",
}
REWARD = (
    "def f(trajectory, scenario):\n"
    "    return min(1.0, len(str(trajectory.final_answer or '')) / 40)\n"
)


def seen_of(
    folder: Path, agent: str, *options: str, replies: tuple[str, ...] = ()
) -> str:
    (folder / "agent.py").write_text(HEAD + agent)
    (folder / "rewards.py").write_text(REWARD)
    rows = [{"question": f"When does order {at} arrive?"} for at in range(4)]
    (folder / "scenarios.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = art_adapt(
        "-y", "--isolated", "--entry", "run", *options, "agent.py", cwd=folder
    )
    assert done.returncode == 0, done.stderr.decode()
    _, said, complaints = rehearse("agent_train.py", "--json", *replies, cwd=folder)
    told: dict[str, Any] = json.loads(said or "{}")
    assert told, complaints
    found = [each for each in told["unwitnessed"] if "model refuses" in each]
    return str(found[0]) if found else ""


@pytest.mark.parametrize("kind", first_now(OWN, 1))
def test_what_the_code_answers_by_itself_is_said(kind: str, tmp_path: Path) -> None:
    assert seen_of(tmp_path, OWN[kind], "--reward", "rewards:f")


@pytest.mark.wide
@pytest.mark.parametrize("kind", ["in an except", "as a record"])
def test_a_judge_would_read_it_as_well(kind: str, tmp_path: Path) -> None:
    assert seen_of(tmp_path, OWN[kind])


@pytest.mark.wide
@pytest.mark.parametrize("kind", first_now(OF_THE_MODEL, 1))
def test_what_the_model_said_is_no_fallback(kind: str, tmp_path: Path) -> None:
    aside = ("--auxiliary", "sum_up") if kind == "another model's" else ()
    assert not seen_of(tmp_path, OF_THE_MODEL[kind], "--reward", "rewards:f", *aside)


@pytest.mark.wide
def test_a_fallback_that_is_worth_little_is_not_said(tmp_path: Path) -> None:
    agent = OWN["in an except"].replace("FALLBACK", "'no'").replace("['answer']", "")
    rows = '{"content": "[1111111111, 2222222222, 3333333333]"}\n'
    (tmp_path / "replies.jsonl").write_text(rows)
    replies = ("--replies", "replies.jsonl")
    assert not seen_of(tmp_path, agent, "--reward", "rewards:f", replies=replies)


def test_an_answer_is_shown_in_one_line() -> None:
    assert shortened("Case 0\nCase 1") == "Case 0 Case 1"
    assert "\n" not in shortened("word\n" * 40)
