"""What a run shows decides, in the two cases that matter most; test_seen.py has the others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from agent_files import art_adapt, first_now
from scripted_engine import Engine
from watched_agents import HEAD, SHOWN, entry_of, patch_of, rows, watched


@pytest.mark.parametrize(
    "name",
    [
        "a team around a planner and a worker",
        pytest.param("a factory fills the agent and prints", marks=pytest.mark.wide),
    ],
)
def test_a_run_shows_the_episode(name: str, tmp_path: Path) -> None:
    agent, replies, episode, row = SHOWN[name]
    done = watched(tmp_path, agent, replies)
    assert f"episode  {episode} (agent.py:" in done.stderr.decode(), (
        done.stderr.decode()
    )
    assert row.items() <= rows(tmp_path)[0].items()
    assert entry_of(tmp_path) == {"value": episode, "origin": "seen"}
    assert "agent = make()" in patch_of(tmp_path) or episode != "Agent.run"


@pytest.mark.parametrize(
    "name",
    [
        "a factory fills the agent and prints",
        *(
            pytest.param(each, marks=pytest.mark.wide)
            for each in (
                "the Responses API, which keeps the conversation",
                "a stream, read by another function",
            )
        ),
    ],
)
def test_requests_and_output_are_the_same_while_it_is_heard(
    name: str, tmp_path: Path
) -> None:
    agent, replies, *_ = SHOWN[name]
    (tmp_path / "agent.py").write_text(HEAD + agent)
    said, asked = [], []
    for before in ((), ("-m", "art_adapt", "capture", "--", sys.executable)):
        with Engine(replies) as engine:
            address = {"OPENAI_BASE_URL": engine.base_url, "OPENAI_API_KEY": "k"}
            done = subprocess.run(
                [sys.executable, *before, "agent.py"],
                cwd=tmp_path, capture_output=True, check=True, env={**os.environ, **address},
            )  # fmt: skip
        said.append(done.stdout)
        asked.append([each.body for each in engine.log])
    assert said[0] == said[1] and asked[0] == asked[1]
    assert len(asked[0]) > 1


@pytest.mark.wide
def test_notes_of_another_form_are_left_out(tmp_path: Path) -> None:
    """Of another version, cut off, or edited: what they show is not known."""
    agent, replies, episode, _ = SHOWN["a team around a planner and a worker"]
    watched(tmp_path, agent, replies)
    file = tmp_path / ".art-adapt" / "seen.jsonl"
    notes = file.read_text()
    file.write_text(
        notes.replace('"site": [', '"site": {"at": [').replace("], ", "]}, ")
    )
    assert entry_of(tmp_path)["origin"] == "found"
    broken = '{"process": 1, "run": []}\n{"process": 1, "call": 1}\n[1]\nnull\n{"pro'
    file.write_text(f"{broken}\n{notes}{broken}")
    assert entry_of(tmp_path) == {"value": episode, "origin": "seen"}


def test_a_test_client_shows_the_function_behind_the_route(tmp_path: Path) -> None:
    """No call leads from the script to the model, and the question is a short one."""
    service = (
        "from openai import OpenAI\n\n\ndef chat(message: str) -> str:\n"
        "    asked = [{'role': 'user', 'content': message}]\n"
        "    return OpenAI().chat.completions.create(model='m', messages=asked).choices[0].message.content\n"
    )
    web = (
        "import service\nfrom flask import Flask, request\n\napp = Flask(__name__)\n\n\n"
        "@app.post('/chat')\ndef reply():\n    return service.chat(request.json['message'])\n"
    )
    drive = "from web import app\n\nprint(app.test_client().post('/chat', json={'message': 'hi'}).text)\n"
    for name, text in {"service": service, "web": web, "drive": drive}.items():
        (tmp_path / f"{name}.py").write_text(text)
    done = art_adapt(
        *("capture", "--scripted", "--", sys.executable, "drive.py"), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert b"episode  chat (service.py:4)" in done.stderr
    row = json.loads((tmp_path / "scenarios.jsonl").read_text())
    assert row["message"] == "hi"


@pytest.mark.slow
def test_what_it_was_given_describes_the_fields(tmp_path: Path) -> None:
    """An annotation may be wrong, and an agent refuse a model's name that it does not know."""
    agent = (
        "from openai import OpenAI\n\nclient = OpenAI()\nKNOWN = ('small', 'large')\n\n\n"
        "def answer(data: str, model: str) -> str:\n"
        "    if model not in KNOWN:\n        raise ValueError(model)\n"
        "    asked = [{'role': 'user', 'content': data['question']}]\n"
        "    return client.chat.completions.create(model=model, messages=asked).choices[0].message.content\n"
    )
    drive = (
        "import sys\n\nfrom agent import answer\n\n"
        "print(answer({'question': 'How many apples are there?'}, sys.argv[1]))\n"
    )
    (tmp_path / "agent.py").write_text(agent)
    (tmp_path / "drive.py").write_text(drive)
    (tmp_path / "rewards.py").write_text("def f(t, s):\n    return len(str(t)) / 1e5\n")
    run = ("--scripted", "--", sys.executable, "drive.py", "large")
    assert art_adapt("capture", *run, cwd=tmp_path).returncode == 0
    adapting = ("-y", "--reward", "rewards:f", "agent.py")
    assert art_adapt(*adapting, cwd=tmp_path).returncode == 0
    module = (tmp_path / "agent_train.py").read_text()
    assert "    data: dict\n" in module
    assert "answer(data=scenario.data, model='large')" in module.replace('"', "'")
    row = (tmp_path / "scenarios.jsonl").read_text()
    (tmp_path / "scenarios.jsonl").write_text(row * 8)
    done = art_adapt("rehearse", "agent_train.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout.decode()


READER = (
    HEAD
    + """

def word(topic: str) -> str:
    asked = [{"role": "user", "content": topic + ". Which word do you recommend?"}]
    reply = client.chat.completions.create(model="m", messages=asked)
    return json.loads(reply.choices[0].message.content)["word"]


print(word(sys.argv[1]))
"""
)


@pytest.mark.wide
def test_a_scripted_run_says_what_it_is_told_to_say(tmp_path: Path) -> None:
    """Else an agent that reads replies of a form that no prompt shows ends at the first one."""
    (tmp_path / "agent.py").write_text(READER)
    command = ("--", sys.executable, "agent.py", "salad")
    made_up = art_adapt("capture", "--scripted", *command, cwd=tmp_path)
    assert made_up.returncode == 1
    assert b"supply some with --replies FILE.jsonl" in made_up.stderr
    (tmp_path / "replies.jsonl").write_text(
        '{"content": "{\\"word\\": \\"basil\\"}"}\n'
    )
    replies = ("--replies", "replies.jsonl")
    told = art_adapt("capture", "--scripted", *replies, *command, cwd=tmp_path)
    assert (told.returncode, told.stdout.strip()) == (0, b"basil"), told.stderr
    assert b"--replies" not in told.stderr
    refused = art_adapt("capture", *replies, *command, cwd=tmp_path)
    assert b"--replies is for --scripted" in refused.stderr
    (tmp_path / "replies.jsonl").write_text("basil\n")
    refused = art_adapt("capture", "--scripted", *replies, *command, cwd=tmp_path)
    assert refused.returncode == 2 and b"cannot read the replies" in refused.stderr


OF_A_FILE = (
    HEAD
    + """

def repair(path: str) -> str:
    asked = [{"role": "user", "content": open(path).read()}]
    reply = client.chat.completions.create(model="m", messages=asked)
    return reply.choices[0].message.content


print(repair(sys.argv[1]))
"""
)


@pytest.mark.parametrize("is_whole", first_now([True, False]))
def test_a_path_of_this_machine_is_said_to_be_one(
    is_whole: bool, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(OF_A_FILE)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text("{}")
    path = tmp_path / "in/a.json" if is_whole else "in/a.json"
    command = ("capture", "--scripted", "--", sys.executable, "agent.py", path)
    done = art_adapt(*command, cwd=tmp_path)
    assert rows(tmp_path)[0]["path"].endswith("in/a.json"), done.stderr
    assert (b"path holds a path of this machine" in done.stderr) == is_whole


ENDLESS = (
    HEAD
    + """

def play(topic: str) -> str:
    board = topic
    while "FINISHED" not in board:
        asked = [{"role": "user", "content": f"Your move on {len(board)} {topic}?"}]
        try:
            reply = client.chat.completions.create(model="m", messages=asked)
            board = reply.choices[0].message.content
        except Exception:
            board = topic
    return board


print(play(sys.argv[1]))
"""
)


@pytest.mark.slow  # a thousand requests, which take minutes beside other tests
def test_a_scripted_run_without_end_is_ended(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(ENDLESS)
    command = ("capture", "--scripted", "--", sys.executable, "agent.py", "chess")
    done = art_adapt(*command, cwd=tmp_path)
    said = done.stderr.decode()
    assert "stopped the command after 1,000 requests" in said
    assert "1 episode of play" in said
