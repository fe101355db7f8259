"""Each feature of a candidate, with a program in which it holds and one in which not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import art_adapt

from art_adapt.source import read_source
from art_adapt.survey.candidates.features import FEATURES
from art_adapt.survey.candidates.weights import WEIGHTS
from art_adapt.survey.survey import survey

HEAD = """\
import json
from openai import OpenAI

client = OpenAI()
SYSTEM = {"role": "system", "content": "Help."}


def send(messages):
    return client.chat.completions.create(model="gpt-4o", messages=messages)


def look(city):
    return "sunny in " + city


"""
LOOP = """\
    messages = [SYSTEM, {"role": "user", "content": task}]
    while True:
        message = send(messages).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            given = json.loads(call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": look(**given)})
"""
AGENT = f"def solve(task):\n{LOOP}"
ONCE = """\
def ask_once(text):
    messages = [SYSTEM, {"role": "user", "content": text}]
    return send(messages).choices[0].message.content
"""
# The feature, a program, the function of which it holds, one of which it does not.
PROGRAMS = {
    "named_file": (AGENT, "solve", None),
    "run_name": (f"{AGENT}\n\ndef other(task):\n{LOOP}", "solve", "other"),
    "private_name": (f"{AGENT}\n\ndef _inner(task):\n{LOOP}", "_inner", "solve"),
    "takes_a_task": (
        f'{AGENT}\n\ndef fixed():\n    return solve("Delft")\n',
        "solve",
        "fixed",
    ),
    "returns_something": (
        f"{AGENT}\n\ndef show(task):\n    print(solve(task))\n",
        "solve",
        "show",
    ),
    "yields": (
        f"{AGENT}\n\ndef stream(task):\n    yield solve(task)\n",
        "stream",
        "solve",
    ),
    "starts_or_tries": (
        f"{AGENT}\n\ndef main():\n    print(solve('Delft'))\n\n"
        "if __name__ == '__main__':\n    main()\n",
        "main",
        "solve",
    ),
    "chats": (
        "messages = [SYSTEM]\n\n\ndef respond():\n"
        "    message = send(messages).choices[0].message\n    messages.append(message)\n"
        "    return message.content\n\n"
        "def chat():\n    while True:\n"
        '        messages.append({"role": "user", "content": input()})\n'
        "        print(respond())\n",
        "chat",
        "respond",
    ),
    "relays_a_person": (
        f"{AGENT}\n\ndef talk():\n    while True:\n        print(solve(input()))\n",
        "talk",
        "solve",
    ),
    "in_a_table": (
        f"{ONCE}\nTOOLS = {{'ask': ask_once}}\n\n"
        + AGENT.replace("look(**given)", "TOOLS[call.function.name](**given)"),
        "ask_once",
        "solve",
    ),
    "composes": (
        f"{ONCE}\ndef review(text):\n    return ask_once('Check: ' + text)\n\n"
        "def answer(task):\n    return review(ask_once('Write: ' + task))\n",
        "answer",
        "ask_once",
    ),
    "only_sends": (AGENT, "send", "solve"),
    "read_later": (
        "class Bot:\n    def query(self, text):\n"
        "        self.response = client.chat.completions.create(model='m', messages=[text])\n\n"
        "    def receive(self):\n"
        "        return self.response.choices[0].message.content\n",
        "Bot.query",
        "send",
    ),
    "writes_first_messages": (ONCE, "ask_once", "send"),
    "drives": (AGENT, "solve", "send"),
    "drives_privately": (
        f"def _loop(task):\n{LOOP}\n\ndef solve(task):\n    return _loop(task).strip()\n",
        "solve",
        "_loop",
    ),
    "asks_in_a_loop": (
        "def ask_until(text):\n    for _ in range(3):\n"
        "        answer = send([SYSTEM, text]).choices[0].message.content\n"
        "        if answer:\n            return answer\n",
        "ask_until",
        "send",
    ),
    "runs_one_of_several": (
        f"def solve(task):\n{LOOP}\n\ndef research(task):\n{LOOP}\n\n"
        "def route(task):\n    if 'why' in task:\n        return research(task)\n"
        "    return solve(task)\n",
        "route",
        "solve",
    ),
    "inside_a_recursion": (
        "def turn(messages):\n"
        "    message = send(messages).choices[0].message\n    messages.append(message)\n"
        "    return after(messages, message)\n\n"
        "def after(messages, message):\n    if message.tool_calls:\n"
        "        return turn(messages)\n    return message.content\n\n"
        "def solve(task):\n    return turn([SYSTEM, {'role': 'user', 'content': task}])\n",
        "after",
        "turn",
    ),
    "told_before": (
        "class Bot:\n    def __init__(self):\n        self.messages = [SYSTEM]\n\n"
        "    def ask(self, text):\n"
        "        self.messages.append({'role': 'user', 'content': text})\n"
        "        return self.respond()\n\n"
        "    def respond(self):\n        while True:\n"
        "            message = send(self.messages).choices[0].message\n"
        "            self.messages.append(message)\n"
        "            if not message.tool_calls:\n                return message.content\n",
        "Bot.respond",
        "Bot.ask",
    ),
    "handed_a_reply": (
        f"{ONCE}\ndef mend(draft):\n    return ask_once('Mend: ' + draft)\n\n"
        "def answer(task):\n    return mend(ask_once('Write: ' + task))\n",
        "mend",
        "ask_once",
    ),
    "handed_arguments": (
        "import argparse\n\ndef talk(args):\n    return send([SYSTEM, args.text])\n\n"
        "def start():\n    talk(argparse.ArgumentParser().parse_args())\n",
        "talk",
        "start",
    ),
    "step_of_module": (
        f"{ONCE}\n{AGENT}\nsaid = 'Why?'\nwhile said:\n    said = ask_once(said)\n",
        "ask_once",
        "solve",
    ),
    "of_a_page": (
        f"import streamlit as st\n\n{AGENT}\n\ndef show(task):\n"
        "    st.session_state.said = solve(task)\n    return st.session_state.said\n",
        "show",
        "solve",
    ),
    "set_by_start": (
        f"notes = None\n\n{AGENT.replace('[SYSTEM,', '[notes[0], SYSTEM,')}\n\n"
        "def begin(task):\n    global notes\n    notes = [SYSTEM]\n    return solve(task)\n",
        "solve",
        "begin",
    ),
    "set_by_module": (
        f"{AGENT.replace('[SYSTEM,', '[notes, SYSTEM,')}\n\ndef other(task):\n{LOOP}\n\n"
        'if __name__ == "__main__":\n    notes = SYSTEM\n    print(solve("Why?"))\n',
        "solve",
        "other",
    ),
    "part": (f"{ONCE}\ndef both(a, b):\n    return ask_once(a) + ask_once(b)\n", "ask_once", "both"),
    "whole_part": (
        f"{AGENT}\n\ndef review(task):\n    draft = solve(task)\n"
        "    return send([SYSTEM, draft]).choices[0].message.content\n",
        "solve",
        "review",
    ),
}  # fmt: skip
# Their programs take several files or classes; other tests of this folder have them.
ELSEWHERE = {"turn_of_a_chat", "begun_before", "started_itself", "only_relays"}


def features(tmp_path: Path, program: str) -> dict[str, tuple[str, ...]]:
    path = tmp_path / "agent.py"
    path.write_text(HEAD + program)
    return {
        each.name: each.features for each in survey([read_source(path)]).entry_points
    }


@pytest.mark.parametrize("name", PROGRAMS)
def test_feature(tmp_path: Path, name: str) -> None:
    program, holds, holds_not = PROGRAMS[name]
    found = features(tmp_path, program)
    assert name in found[holds]
    if holds_not is not None:
        assert name not in found[holds_not]


def test_each_feature_has_one_weight_and_a_program() -> None:
    names = [each.name for each in FEATURES]
    assert sorted(names) == sorted(WEIGHTS)
    assert {*PROGRAMS, *ELSEWHERE} == set(names)
    assert len({each.says for each in FEATURES}) == len(names)


def test_a_user_reads_why_a_function_was_chosen(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(HEAD + AGENT)
    said = art_adapt("explain", "--entry", "agent.py", cwd=tmp_path).stdout.decode()
    first, *rest = said.splitlines()
    assert first.split() == [
        "1.",
        "solve",
        "agent.py:16",
        f"+{score('solve', tmp_path)}",
    ]
    assert "     +5  its loop drives the conversation" in rest
    assert any(line.startswith("2. send") for line in rest)


def test_programs_read_the_same_as_json(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(HEAD + AGENT)
    done = art_adapt("explain", "--entry", "agent.py", "--json", cwd=tmp_path)
    first, second = json.loads(done.stdout)
    assert (first["name"], second["name"]) == ("solve", "send")
    assert first["score"] == sum(first["features"].values())
    assert (
        first["place"] == {"path": "agent.py", "line": 17, "column": 1}
        or first["place"]
    )


def test_near_candidates_are_said(tmp_path: Path) -> None:
    program = f"{AGENT}\n\ndef other(task):\n{LOOP}"
    (tmp_path / "agent.py").write_text(HEAD + program)
    said = art_adapt("explain", "--entry", "agent.py", cwd=tmp_path).stdout.decode()
    assert "Nearly as likely as solve: other. Choose with --entry." in said
    told = art_adapt("--diff", "agent.py", cwd=tmp_path).stderr.decode()
    assert "nearly as likely: other" in " ".join(told.split())
    chosen = art_adapt("--diff", "--entry", "solve", "agent.py", cwd=tmp_path).stderr
    assert b"likely" not in chosen


def test_no_candidate_is_a_message(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("print('no model')\n")
    done = art_adapt("explain", "--entry", "agent.py", cwd=tmp_path)
    assert done.returncode == 2
    assert b"no function in this file reaches a policy call" in done.stderr


def score(name: str, tmp_path: Path) -> int:
    [found] = [
        e
        for e in survey([read_source(tmp_path / "agent.py")]).entry_points
        if e.name == name
    ]
    return found.score


@pytest.mark.parametrize(
    "name", ["reply", "replay_case", "client_chat", "served", "mainline", "democracy"]
)
def test_a_name_that_only_begins_like_that_of_a_start(
    tmp_path: Path, name: str
) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(
        f"{HEAD}def {name}(task):\n    return _converse(task)\n\n\ndef _converse(task):\n{LOOP}"
    )
    first = survey([read_source(agent)]).entry_points[0]
    assert first.called == name and "starts_or_tries" not in str(first.features)
