"""A rehearsal says where an episode stood when it ran out of time, and where a reward raised."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_files import art_adapt, first_now
from test_rehearse import rehearse
from test_witnesses import HEAD, RIGHT

SLOW = '    return "sunny in " + city\n'
ASYNC = (
    HEAD.replace("OpenAI", "AsyncOpenAI")
    .replace("def look", "async def look")
    .replace("def ask", "async def ask")
    .replace("import json\n", "import asyncio\nimport json\n")
    .replace(SLOW, f"    await asyncio.sleep(30)\n{SLOW}")
    .replace("return client", "return await client")
)
HANGING = {
    "in a thread": (
        HEAD.replace("import json\n", "import json\nimport time\n").replace(
            SLOW, f"    time.sleep(30)\n{SLOW}"
        )
        + RIGHT,
        "time.sleep(30)",
    ),
    "in the loop": (
        ASYNC
        + RIGHT.replace("def run_agent", "async def run_agent")
        .replace("ask(messages).choices", "(await ask(messages)).choices")
        .replace("look(**json", "await look(**json"),
        "await asyncio.sleep(30)",
    ),
}


def prepared(tmp_path: Path, agent: str, reward: str, *options: str) -> None:
    (tmp_path / "agent.py").write_text(agent)
    (tmp_path / "rewards.py").write_text(reward)
    rows = [{"question": f"How is the weather in city {at}?"} for at in range(4)]
    (tmp_path / "scenarios.jsonl").write_text("\n".join(map(json.dumps, rows)))
    adapting = ("--isolated", "--entry", "run_agent", "--reward", "rewards:f")
    done = art_adapt(*adapting, *options, "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()


def found(tmp_path: Path) -> dict[str, dict[str, Any]]:
    _, said, complaints = rehearse("agent_train.py", "--json", cwd=tmp_path)
    told = json.loads(said or "{}")
    assert told, complaints
    return {each["name"]: each for each in told["findings"]}


@pytest.mark.parametrize("name", first_now(HANGING))
def test_what_was_running_is_named(tmp_path: Path, name: str) -> None:
    agent, line = HANGING[name]
    prepared(tmp_path, agent, "def f(t, s):\n    return len(str(t.messages()))\n")
    module = tmp_path / "agent_train.py"
    text = module.read_text()
    short = text.replace("EPISODE_TIMEOUT = 600.0", "EPISODE_TIMEOUT = 1.0")
    assert short != text
    module.write_text(short)
    number = (tmp_path / "agent.py").read_text().splitlines().index(f"    {line}") + 1
    assert f"agent.py:{number}" in found(tmp_path)["out of time"]["what"]


@pytest.mark.parametrize(
    ("reward", "line"),
    first_now(
        [
            ("def f(t, s):\n    return [][0]\n", 2),
            (
                "async def f(t, s):\n    return g(s)\n\n\ndef g(s):\n    return s.nope\n",
                6,
            ),
        ]
    ),
)
@pytest.mark.parametrize("isolate", ["none", "process"])
def test_a_reward_that_raises_is_named_at_its_place(
    tmp_path: Path, reward: str, line: int, isolate: str
) -> None:
    prepared(tmp_path, HEAD + RIGHT, reward, "--isolate", isolate)
    finding = found(tmp_path)["reward raised"]
    assert (Path(finding["path"]).name, finding["line"]) == ("rewards.py", line)
    assert ('add "nope" to every row' in finding["fix"]) == ("nope" in reward)
    code, said, _ = rehearse("agent_train.py", cwd=tmp_path)
    assert code == 1 and "Traceback" not in said.partition("Would go wrong")[2]


@pytest.mark.parametrize(
    ("reward", "what", "fix"),
    first_now(
        [
            ("return 'good'", "returned 'good', which is no number", "a finite number"),
            ("return {'a': None}", "returned None for a, which is no number", "a finite number"),
            ("return {}", "returned {}, which is no number", "a finite number"),
            ("return float('inf')", "the reward is inf", "a finite number"),
            ("return len(t.final_anwser)", "no attribute 'final_anwser'", "did you mean final_answer?"),
            ("t.final_answer = [1]\n    return 'x' in t.final_answer.text", "(final_answer is a list)", "an attribute"),
        ]
    ),
)  # fmt: skip
def test_what_a_reward_returns_or_misreads_is_said(
    tmp_path: Path, reward: str, what: str, fix: str
) -> None:
    prepared(tmp_path, HEAD + RIGHT, f"def f(t, s):\n    {reward}\n")
    finding = found(tmp_path)["reward raised"]
    assert Path(finding["path"]).name == "rewards.py" and finding["line"]
    assert what in finding["what"] and fix in finding["fix"]


def test_a_call_in_episode_that_does_not_fit_is_named(tmp_path: Path) -> None:
    prepared(tmp_path, HEAD + RIGHT, "def f(t, s):\n    return 1.0\n")
    module = tmp_path / "agent_train.py"
    text = module.read_text().replace("run_agent(question=", "run_agent(query=")
    module.write_text(text)
    line = 1 + next(n for n, t in enumerate(text.splitlines()) if "(query=" in t)
    fix = found(tmp_path)["stopped"]["fix"]
    assert fix.startswith(f"change line {line} of the train module")


def test_what_the_scripted_model_does_not_know_is_no_fault_of_the_agent(
    tmp_path: Path,
) -> None:
    odd = HEAD.replace("tools=TOOLS", 'tools=TOOLS, tool_choice={"function": "look"}')
    prepared(tmp_path, odd + RIGHT, "def f(t, s):\n    return 1.0\n")
    code, said, complaint = rehearse("agent_train.py", cwd=tmp_path)
    assert code == 2 and "the scripted model failed: AttributeError" in complaint, said
    assert "Traceback" not in complaint
