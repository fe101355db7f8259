"""An agent that is run below its definition is imported without being run."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest
from agent_files import art_adapt

from art_adapt import training

AGENT = """
import asyncio
import sys
from openai import OpenAI

client = OpenAI(api_key="none", base_url="http://127.0.0.1:9/v1", max_retries=0)
ASKED = []


def solve(task: str, said=None):
    ASKED.append(task)
    reply = client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": task}]
    )
    return reply.choices[0].message.content


async def asolve(task):
    return solve(task)
"""
# What stands below, and the calls that a train module imports the agent without.
DEMOS = [
    ("print(solve('a'))", ["solve"]),
    ("task = 'a'\nanswer = solve(task)\nif answer:\n    print('it is', answer)", ["solve"]),
    ("for task in ('a', 'b'):\n    answer = solve(task)\n    print(answer)", ["solve"]),
    ("answers = [solve(task) for task in ('a', 'b')]\nprint(answers[0])", ["solve"]),
    ("try:\n    print(solve('a'))\nexcept ValueError as error:\n    print(error)", ["solve"]),
    ("answers = {}\nfor task in 'ab':\n    answers[task] = solve(task)\nwith open('no/such/folder', 'w') as file:\n    file.write(str(answers))", ["solve"]),
    ("rows = []\nfor task in 'ab':\n    rows.append(solve(task))\nopen('no/such/folder', 'w').write(str(rows))", ["solve"]),
    ("asyncio.run(asolve('a'))", ["asolve"]),
    ("loop = asyncio.new_event_loop()\nloop.run_until_complete(asolve('a'))", ["asolve"]),
    ("def main():\n    print(solve('a'))\n\nmain()", ["main"]),
    ("def main():\n    print(solve('a'))\n\nmain()\nprint(solve('b'))", ["main", "solve"]),
    ("class Agent:\n    def run(self, t):\n        return solve(t)\n\nagent = Agent()\nagent.run('a')", ["agent.run"]),
    ("reply = client.chat.completions.create(model='m', messages=[])\nprint(reply.choices)", ["client.chat.completions.create"]),
]  # fmt: skip


def adapted(folder: Path, below: str, name: str = "agent") -> str:
    (folder / f"{name}.py").write_text(f"{AGENT}\n\n{below}\n")
    done = art_adapt("-y", "--entry", "solve", f"{name}.py", cwd=folder)
    assert done.returncode == 0, done.stderr
    return (folder / f"{name}_train.py").read_text()


def imported(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, *calls: str
) -> ModuleType:
    monkeypatch.syspath_prepend(folder)
    for module in (name, "art_recording"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    with training.without_runs_of(*calls):
        return importlib.import_module(name)


@pytest.mark.parametrize(("below", "calls"), DEMOS)
def test_demos_are_left_out(
    below: str, calls: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = adapted(tmp_path, below)
    given = ", ".join(f'"{call}"' for call in calls)
    assert (
        f"with training.without_runs_of({given}):\n    from agent import solve" in text
    )
    assert "Importing the agent does" not in text
    agent = imported(tmp_path, monkeypatch, "agent", *calls)
    assert agent.ASKED == [] and callable(agent.solve)


KEPT = [
    # What a demo has filled, and what functions need all the same.
    "results = []\nfor task in 'ab':\n    results.append(solve(task))\nresults = {'limit': 3}\nLIMIT = results['limit']",
    "cache = {}\ncache['greeting'] = solve('hi')\nLIMIT = len(cache) + 3",
    "class App:\n    def add(self, text): ...\n\napp = App()\napp.add(solve('hi'))\nLIMIT = 3 if app else 4",
]  # fmt: skip


@pytest.mark.parametrize("below", KEPT)
def test_what_functions_need_of_what_was_filled_stays(
    below: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = adapted(
        tmp_path, f"{below}\n\n\ndef capped(task):\n    return solve(task)[:LIMIT]"
    )
    assert 'with training.without_runs_of("solve"):' in text
    agent = imported(tmp_path, monkeypatch, "agent", "solve")
    assert agent.ASKED == [] and agent.LIMIT == 3


NEEDED = [
    # What the demo makes is used by functions.
    "FIRST = solve('a')\n\n\ndef again():\n    return solve(FIRST)",
    "FIRST = solve('a')\n\n\nclass Again:\n    first = FIRST",
    "if solve('a'):\n    def again():\n        return 1\nelse:\n    def again():\n        return 2\n\n\ndef more():\n    return again()",
    "def again(first=solve('a')):\n    return first",
]


@pytest.mark.parametrize("below", NEEDED)
def test_what_functions_need_is_not_left_out(below: str, tmp_path: Path) -> None:
    text = adapted(tmp_path, below)
    assert "without_runs_of" not in text
    assert "Importing the agent does what is listed below" in text


def test_an_agent_that_came_to_need_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "changed.py").write_text(f"{AGENT}\n{NEEDED[0]}\n")
    with pytest.raises(ImportError, match=r"changed\.py cannot be imported without"):
        imported(tmp_path, monkeypatch, "changed", "solve")


def test_a_name_that_a_function_has_of_its_own_is_not_the_demos(tmp_path: Path) -> None:
    below = "task = 'a'\nsaid = solve(task)\nprint(task, said)"
    assert "without_runs_of" in adapted(tmp_path, below)


def test_main_guards_stay_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = """
        answer = solve("a")
        print(answer)

        if __name__ == "__main__":
            answer = solve("b")
    """
    (tmp_path / "guarded.py").write_text(AGENT + dedent(below))
    agent = imported(tmp_path, monkeypatch, "guarded", "solve")
    assert agent.ASKED == []


def test_other_files_of_the_project_count_too_and_libraries_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "steps.py").write_text(
        "DONE = []\n\ndef go():\n    DONE.append(1)\n\ngo()\n"
    )
    (tmp_path / "flow.py").write_text("from steps import DONE, go\n\ngo()\n")
    monkeypatch.delitem(sys.modules, "steps", raising=False)
    flow = imported(tmp_path, monkeypatch, "flow", "go", "namedtuple")
    assert flow.DONE == []
    monkeypatch.delitem(sys.modules, "calendar", raising=False)
    with training.without_runs_of("_localized_month"):
        assert importlib.import_module("calendar").month_name
    assert not any(
        type(each).__module__.startswith("art_adapt") for each in sys.meta_path
    )


@pytest.mark.parametrize(
    ("imports", "below", "call"),
    [
        ("from flask import Flask\n\napp = Flask(__name__)\n", "app.run(port=1)", "app.run"),
        ("import gradio as gr\n\ndemo = gr.Interface(fn=len)\n", "demo.launch()", "demo.launch"),
        ("import uvicorn\nfrom fastapi import FastAPI\n\napp = FastAPI()\n", "uvicorn.run(app)", "uvicorn.run"),
    ],
)  # fmt: skip
def test_servers_are_not_started(
    imports: str, below: str, call: str, tmp_path: Path
) -> None:
    text = adapted(tmp_path, f"{imports}\n\n{below}")
    assert f'with training.without_runs_of("{call}"):' in text
