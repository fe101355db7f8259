"""Side jobs that ask through the function which the agent's own turns go through as well."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_files import art_adapt

HELPER = """\
from openai import OpenAI

client = OpenAI()


def complete(messages, tools=None):
    return client.chat.completions.create(model="m", messages=messages, tools=tools).choices[0].message
"""
LOOP = """\
from llm import complete

TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]


def run(task: str) -> str:
    messages = [{"role": "user", "content": task}]
    while True:
        messages = compact(messages)
        reply = complete(messages, TOOLS)
        messages.append(reply)
        if not reply.tool_calls:
            return reply.content
        for call in reply.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "a door"})


def compact(messages):
    if len(messages) < 5:
        return messages
    return [messages[0], {"role": "user", "content": summarize(str(messages[1:]))}]


"""
ASIDE = {
    "a list in the call": (
        "def summarize(text):\n"
        "    return complete([{'role': 'user', 'content': text}]).content\n"
    ),
    "by name": (
        "def summarize(text):\n"
        "    return complete(messages=[{'role': 'user', 'content': text}]).content\n"
    ),
    "a list of its own": (
        "def summarize(text):\n    asked = [{'role': 'user', 'content': text}]\n"
        "    reply = complete(asked)\n    return reply.content\n"
    ),
    "a method": (
        "class Memory:\n    def summary(self, text):\n"
        "        return complete([{'role': 'user', 'content': text}]).content\n\n\n"
        "def summarize(text):\n    return Memory().summary(text)\n"
    ),
}
ASIDE["a summary between turns"] = (
    "def summarize(text):\n    return summary_of(text)\n\n\ndef summary_of(text):\n"
    "    return complete([{'role': 'user', 'content': text}]).content\n"
)
NOT_ASIDE = {
    "a summary after them": (
        "def summarize(text):\n    return text\n\n\ndef write_summary(task):\n"
        "    text = run(task)\n"
        "    return complete([{'role': 'user', 'content': text}]).content\n"
    ),
    "with tools": (
        "def summarize(text):\n"
        "    return complete([{'role': 'user', 'content': text}], TOOLS).content\n"
    ),
    "it runs the turns": (
        "def summarize(text):\n    return text\n\n\ndef condense(task):\n"
        "    plan = complete([{'role': 'user', 'content': task}]).content\n"
        "    return run(plan)\n"
    ),
    "its name says nothing": (
        "def summarize(text):\n    return shorter(text)\n\n\ndef shorter(text):\n"
        "    return complete([{'role': 'user', 'content': text}]).content\n"
    ),
    "it goes on with the conversation": (
        "def summarize(text):\n    return text\n\n\ndef reflect(messages):\n"
        "    return complete(messages).content\n"
    ),
    "its list grows": (
        "def summarize(text):\n    asked = [{'role': 'user', 'content': text}]\n"
        "    reply = complete(asked)\n    asked.append(reply)\n"
        "    return complete(asked).content\n"
    ),
}


def auxiliary_of(folder: Path, rest: str, *options: str) -> tuple[str, str]:
    """Return the train module's line of what is not trained, and the report."""
    (folder / "llm.py").write_text(HELPER)
    (folder / "agent.py").write_text(LOOP + rest)
    done = art_adapt("--diff", "agent.py", *options, cwd=folder)
    lines = done.stdout.decode().splitlines()
    found = [line for line in lines if line.startswith("+AUXILIARY")]
    return found[0] if found else "", done.stderr.decode()


@pytest.mark.parametrize("spelling", ASIDE)
def test_a_side_job_of_a_shared_helper_is_not_trained(
    spelling: str, tmp_path: Path
) -> None:
    line, said = auxiliary_of(tmp_path, ASIDE[spelling])
    names = {"a method": "Memory.summary", "a summary between turns": "summary_of"}
    name = names.get(spelling, "summarize")
    assert f'"{name} > complete"' in line, said
    assert f"{name}, through complete" in said


@pytest.mark.parametrize("spelling", NOT_ASIDE)
def test_turns_of_the_agent_are_trained(spelling: str, tmp_path: Path) -> None:
    line, said = auxiliary_of(tmp_path, NOT_ASIDE[spelling])
    assert " > " not in line
    assert "through complete" not in said


def test_a_flag_says_which_of_them_is_trained(tmp_path: Path) -> None:
    trained, _ = auxiliary_of(tmp_path, ASIDE["by name"], *("--policy", "summarize"))
    assert " > " not in trained
    spelling = NOT_ASIDE["its name says nothing"]
    aside, said = auxiliary_of(tmp_path, spelling, "--auxiliary", "shorter")
    assert '"shorter > complete"' in aside
    assert "named: --auxiliary shorter" in said


@pytest.mark.wide
def test_what_it_asks_is_none_of_the_recorded_turns(tmp_path: Path) -> None:
    """The summary of each episode goes to another model; with --policy it is recorded."""
    rest = ASIDE["by name"].replace("text}]", "text[:40]}]")
    agent = (LOOP + rest).replace("len(messages) < 5", "len(messages) != 1")
    figures: dict[str, dict[str, Any]] = {}
    for option in ("--auxiliary", "--policy"):
        folder = tmp_path / option
        folder.mkdir()
        (folder / "llm.py").write_text(HELPER)
        (folder / "agent.py").write_text(agent)
        (folder / "scenarios.jsonl").write_text('{"task": "one"}\n{"task": "two"}\n')
        done = art_adapt("agent.py", "-y", option, "summarize", cwd=folder)
        assert done.returncode == 0, done.stderr.decode()
        told = art_adapt("rehearse", "agent_train.py", "--json", cwd=folder)
        figures[option] = json.loads(told.stdout)["figures"]
    aside, trained = figures["--auxiliary"], figures["--policy"]
    assert aside["recorded"] == aside["calls"]
    assert aside["auxiliary"] >= aside["episodes"]
    assert trained["calls"] >= aside["calls"] + trained["episodes"] / 2


APART = """\
from openai import OpenAI

client = OpenAI()
SMALL = "small"


def chat(messages, model="large", tools=None):
    return client.chat.completions.create(model=model, messages=messages, tools=tools).choices[0].message


{aside}


def run(task: str) -> str:
    messages = [{{"role": "user", "content": task}}]
    while True:
        reply = chat(messages, tools=[{{"type": "function", "function": {{"name": "look"}}}}])
        messages.append(reply)
        if not reply.tool_calls:
            return reply.content if holds(reply.content) else "no"
        for call in reply.tool_calls:
            messages.append({{"role": "tool", "tool_call_id": call.id, "content": "a door"}})
"""
ONE = "[{'role': 'user', 'content': text}]"


def said_of(agent: str, folder: Path) -> str:
    """Return what a run without options says of an agent, on one line."""
    (folder / "agent.py").write_text(agent)
    done = art_adapt("--diff", "agent.py", cwd=folder)
    return " ".join(done.stderr.decode().split())


@pytest.mark.parametrize(
    ("aside", "model"),
    [
        (f"def holds(text):\n    return chat({ONE}, 'small').content", "small"),
        (
            f"def holds(text):\n    return chat(messages={ONE}, model=SMALL).content",
            "small",
        ),
        (
            f"def holds(text, model='small'):\n    return chat({ONE}, model).content",
            "small",
        ),
        (
            f"def holds(text):\n    asked = {ONE}\n    return chat(asked, model='small').content",
            "small",
        ),
        (
            "class Settings:\n    guard: str = 'small'\n\n\ndef settings():\n    return Settings()\n\n\n"
            f"def holds(text):\n    return chat({ONE}, model=settings().guard).content",
            "small",
        ),
        (
            "class Settings:\n    def __init__(self):\n        self.guard = 'small'\n\n\nSETTINGS = Settings()\n\n\n"
            f"def holds(text):\n    return chat({ONE}, model=SETTINGS.guard).content",
            "small",
        ),
        (f"def holds(text):\n    return chat({ONE}).content", ""),
        (f"def holds(text):\n    return chat({ONE}, 'large').content", ""),
    ],
)
def test_a_conversation_of_its_own_beside_the_turns_is_said(
    aside: str, model: str, tmp_path: Path
) -> None:
    said = said_of(APART.format(aside=aside), tmp_path)
    asks = "holds calls chat with a conversation of its own"
    assert f"{asks}{f' (model {model})' * bool(model)} --auxiliary holds" in said


DEBATE = """\
from openai import OpenAI

LARGE = "large"


class Client:
    def __init__(self):
        self.client = OpenAI()

    def text(self, *, model, prompt):
        return self.client.responses.create(model=model, input=prompt).output_text

    def short(self, *, model, prompt):
        return self.text(model=model, prompt=prompt).strip()


class Debater:
    def __init__(self, client):
        self.client = client

    def turn(self, said):
        return self.client.short(model="small", prompt=f"Answer {{said}}")


class Judge:
    def __init__(self, client):
        self.client = client

    def verdict(self, said):
        return self.client.{judge}


def debate(question: str):
    client = Client()
    debater, said = Debater(client), [question]
    for _ in range(3):
        said.append(debater.turn(said))
    return Judge(client).verdict(said)
"""


@pytest.mark.parametrize(
    ("judge", "is_said"),
    [
        ('short(model="large", prompt=f"Judge {said}")', True),
        ('text(model=LARGE, prompt=f"Judge {said}")', True),
        ('short(prompt=f"Judge {said}", model=LARGE)', True),
        ('short(model="small", prompt=f"Judge {said}")', False),
        ("short(model=self.model, prompt=said)", False),
    ],
)
def test_what_asks_another_model_once_through_helpers_is_said(
    judge: str, is_said: bool, tmp_path: Path
) -> None:
    said = said_of(DEBATE.format(judge=judge), tmp_path)
    told = (
        "Judge.verdict calls Client.text with a conversation of its own (model large)"
    )
    assert (told in said) is is_said, said
    options = ("--diff", "--auxiliary", "Judge.verdict")
    named = art_adapt(*options, "agent.py", cwd=tmp_path)
    assert named.returncode == 1, named.stderr.decode()  # whoever it asks through
    assert b'"Judge.verdict > Client.text"' in named.stdout


MODEL_OF = {
    "a default": "def complete(messages, tools=None, model='big'):\n",
    "or a setting": (
        "def complete(messages, tools=None, model=None):\n"
        "    model = model or os.getenv('MODEL', 'big')\n"
    ),
    "or a setting, in the call": "def complete(messages, tools=None, model=None):\n",
}


@pytest.mark.parametrize("kind", MODEL_OF)
def test_another_model_that_a_caller_names_is_told(kind: str, tmp_path: Path) -> None:
    asked = "model"
    if kind == "or a setting, in the call":
        asked = "model or os.getenv('MODEL', 'big')"
    call = (
        f"client.chat.completions.create(model={asked}, messages=messages, tools=tools)"
    )
    (tmp_path / "llm.py").write_text(
        f"import os\nfrom openai import OpenAI\n\nclient = OpenAI()\n\n\n{MODEL_OF[kind]}"
        f"    return {call}.choices[0].message\n"
    )
    (tmp_path / "agent.py").write_text(
        LOOP + "def summarize(text):\n    return text\n\n\ndef label(task):\n"
        "    asked = [{'role': 'user', 'content': task}]\n"
        "    return complete(asked, model='small').content\n"
    )
    done = art_adapt("--diff", "agent.py", cwd=tmp_path)
    told = "label calls complete with a conversation of its own (model small)"
    assert told in done.stderr.decode()
