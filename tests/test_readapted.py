"""An adapted agent is adapted again: what is said to be a side job loses its hook."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import art_adapt

AGENT = """\
import asyncio

from openai import OpenAI

client = OpenAI()


def complete(messages):
    return client.chat.completions.create(model="m", messages=messages)


def run(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    for _ in range(3):
        message = complete(messages).choices[0].message
        messages.append(message)
        if not screen(message.content):
            return message.content
    return ""
"""
# How the request is made that is no turn of the agent.
SIDE_JOBS = {
    "a call": """
def screen(text):
    asked = [{"role": "user", "content": text}]
    reply = client.chat.completions.create(model="m", messages=asked)
    return "no" in reply.choices[0].message.content
""",
    "a call that a thread makes": """
async def screen(text):
    asked = [{"role": "user", "content": text}]
    reply = await asyncio.to_thread(
        client.chat.completions.create, model="a-model-of-a-long-name", messages=asked
    )
    return "no" in reply.choices[0].message.content
""",
    "a call over several lines": """
def screen(text):
    return "no" in client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": text}]
    ).choices[0].message.content
""",
    "responses": """
def screen(text):
    return "no" in client.responses.create(model="m", input=text).output_text
""",
}


def adapted(folder: Path, *options: str) -> str:
    done = art_adapt("-y", "--isolated", "--entry", "run", *options, cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    return (folder / "agent.py").read_text()


@pytest.mark.parametrize("named", ["function", "line"])
@pytest.mark.parametrize("kind", SIDE_JOBS)
def test_a_side_job_that_was_trained_loses_its_hook(
    kind: str, named: str, tmp_path: Path
) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(AGENT + SIDE_JOBS[kind])
    at_once = adapted(tmp_path, "--auxiliary", "screen", "agent.py")
    for path in tmp_path.iterdir():
        if path != agent:
            path.unlink()
    agent.write_text(AGENT + SIDE_JOBS[kind])
    both = adapted(tmp_path, "--policy", "screen", "agent.py")
    assert both.count("recorded(") == at_once.count("recorded(") + 1
    line = 1 + next(
        at
        for at, text in enumerate(both.splitlines())
        if "recorded(client" in text and "def complete" not in both.splitlines()[at - 1]
    )
    name = "screen" if named == "function" else f"agent.py:{line}"
    (tmp_path / "agent_train.py").unlink()  # which says that screen is trained
    assert adapted(tmp_path, "--auxiliary", name, "agent.py") == at_once
    assert adapted(tmp_path, "agent.py") == at_once


def test_an_import_goes_with_the_last_hook(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(f"from screening import screen\n{AGENT}")
    screening = tmp_path / "screening.py"
    text = "from openai import OpenAI\n\nclient = OpenAI()\n" + SIDE_JOBS["a call"]
    screening.write_text(text)
    adapted(tmp_path, "agent.py")
    assert "recorded(client" in screening.read_text()
    adapted(tmp_path, "--auxiliary", "screen", "agent.py")
    assert screening.read_text() == text


def test_a_hook_of_somebody_s_own_stays(tmp_path: Path) -> None:
    """Reading takes ``judge`` for a side job, but nobody has said that it is one."""
    agent = tmp_path / "agent.py"
    agent.write_text(AGENT + SIDE_JOBS["a call"])
    text = adapted(tmp_path, "agent.py").replace("screen", "judge")
    assert text.count("recorded(client") == 2
    agent.write_text(text)
    assert adapted(tmp_path, "agent.py") == text


@pytest.mark.parametrize("folder", ["triage", "desk"])
def test_a_folder_that_is_named_like_its_file_is_no_package(
    folder: str, tmp_path: Path
) -> None:
    """What art-adapt has written beside an agent says nothing of how it is imported."""
    (tmp_path / ".git").mkdir()
    home = tmp_path / folder
    home.mkdir()
    (home / f"{folder}.py").write_text(AGENT.replace("run(", f"{folder}(").replace("screen(message.content)", "message"))  # fmt: skip
    for _ in range(3):
        done = art_adapt("-y", "--isolated", f"{folder}.py", cwd=home)
        assert done.returncode == 0, done.stderr.decode()
        module = (home / f"{folder}_train.py").read_text()
        assert f"from {folder} import {folder}\n" in module
        assert f"Run: python {folder}_train.py" in module
    assert b"Nothing to change" in done.stdout


CHAT = """\
from openai import OpenAI

client = OpenAI()
history: list = []


def run(question: str) -> str:
    history.append({"role": "user", "content": question})
    for _ in range(3):
        message = client.chat.completions.create(model="m", messages=history).choices[0].message
        history.append(message)
        if message.content:
            return message.content
    return ""
"""


@pytest.mark.parametrize("apart", [["--isolate", "process"], ["--isolate", "copy"], []])
def test_check_knows_that_episodes_run_apart(apart: list[str], tmp_path: Path) -> None:
    """A list of the module is none that rollouts share if each has a process of its own."""
    (tmp_path / "agent.py").write_text(CHAT)
    options = ["-y", "--isolated", *(apart or ["--isolate", "none"])]
    assert art_adapt(*options, "agent.py", cwd=tmp_path).returncode == 0
    found = art_adapt("check", "agent.py", cwd=tmp_path).stdout.decode()
    assert ("ART205" in found) is not bool(apart), found


def test_a_side_job_beside_a_turn_of_its_function_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its line names it; the function's name then leaves that request out, and no turn."""
    title = (
        '    title = [{"role": "user", "content": f"Title: {question}"}]\n'
        '    client.chat.completions.create(model="m", messages=title)\n'
        '    return ""\n'
    )
    agent = CHAT.replace("history", "said").replace(
        "    said.append({", "    said = []\n    said.append({"
    )
    agent = agent.replace("said: list = []\n", "")
    agent = agent.replace("            return message.content\n", "            break\n")
    (tmp_path / "agent.py").write_text(agent.replace('    return ""\n', title))
    line = (tmp_path / "agent.py").read_text()[: -len('    return ""\n')].count("\n")
    options = ("-y", "--isolated", "--auxiliary", f"agent.py:{line}", "agent.py")
    done = art_adapt(*options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert 'AUXILIARY: tuple[str, ...] = ("run",)' in (tmp_path / "agent_train.py").read_text()  # fmt: skip
    rows = "".join(f'{{"question": "Who is {name}?"}}\n' for name in "abcd")
    (tmp_path / "scenarios.jsonl").write_text(rows)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    told = json.loads(art_adapt("rehearse", "--json", cwd=tmp_path).stdout)
    names = [each["name"] for each in told["findings"]]
    assert not {"auxiliary", "unhooked", "lost"} & {*names}, told["findings"]
