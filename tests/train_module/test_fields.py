"""What of an entry point's parameters is a scenario's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from agent_files import art_adapt

START = """\
from dataclasses import dataclass, field

from openai import OpenAI

client = OpenAI()


@dataclass
class State:
    log: list[str] = field(default_factory=list)
    note: str | None = None


@dataclass
class Settings:
    depth: int = 3


"""
ASK = """\
        messages = [{{"role": "user", "content": f"{{{value}}} {{self.rules}}"}}]
        reply = client.chat.completions.create(model="m", messages=messages)
        return reply.choices[0].message.content
"""


@pytest.mark.parametrize(
    ("parameters", "value", "fields"),
    [
        ("question: str, settings: Settings", "question", {"rules", "question"}),
        # The object that is required holds the task, though it requires nothing itself.
        ("state: State", "state.log", {"rules", "log", "note"}),
        # So does what may be left out, where nothing else is the function's own.
        ("task: int | None = None, depth: int = 3", "task", {"rules", "task"}),
        ("", "0", {"rules"}),
    ],
)
def test_the_task_is_among_what_the_function_is_given(
    parameters: str, value: str, fields: set[str], tmp_path: Path
) -> None:
    text = (
        f"{START}class Agent:\n    def __init__(self, rules: str):\n        self.rules = rules\n\n"
        f"    def run(self, {parameters}):\n{ASK.format(value=value)}"
    )
    (tmp_path / "agent.py").write_text(text)
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    module = (tmp_path / "agent_train.py").read_text()
    scenario = module.partition("class Scenario")[2].partition("def episode")[0]
    assert set(re.findall(r"^    (\w+):", scenario, re.M)) == fields


def test_a_field_that_is_left_out_leaves_others_of_its_name_their_default(
    tmp_path: Path,
) -> None:
    text = (
        f"{START}@dataclass\nclass Plan:\n    goal: str\n    depth: int = 3\n\n\n"
        "class Agent:\n    def __init__(self, plan: Plan):\n        self.rules = plan.goal\n"
        "        self.depth = plan.depth\n\n"
        f"    def run(self, depth: int | None = None):\n        depth = depth or self.depth\n{ASK.format(value='depth')}"
    )
    (tmp_path / "agent.py").write_text(text)
    assert art_adapt("--isolated", "agent.py", cwd=tmp_path).returncode == 0
    module = (tmp_path / "agent_train.py").read_text()
    assert "depth: int | None = None" in module
    assert "Plan(goal=scenario.goal)" in module
    assert "agent.run(depth=scenario.depth)" in module


@pytest.mark.parametrize(
    ("default", "given"),
    [("", True), (' = ""', True), (' = "gpt-4o"', False), (" | None = None", False)],
)
def test_a_model_without_a_name_is_the_one_in_training(
    default: str, given: bool, tmp_path: Path
) -> None:
    text = (
        f"{START}class Agent:\n    def __init__(self, rules: str, model: str{default}):\n        self.rules = rules\n\n"
        f"    def run(self, task: str):\n{ASK.format(value='task')}"
    )
    (tmp_path / "agent.py").write_text(text)
    assert art_adapt("--isolated", "agent.py", cwd=tmp_path).returncode == 0
    module = (tmp_path / "agent_train.py").read_text()
    assert ("model=BASE_MODEL" in module) == given


@pytest.mark.parametrize(
    ("call", "passed"),
    [
        ("play('gpt-4o', 'GOODY')", '"gpt-4o"'),
        ("play(target='GOODY', model='gpt-4o')", '"gpt-4o"'),
        ("play(sys.argv[1], 'GOODY')", "BASE_MODEL"),
    ],
)
def test_a_models_name_is_the_projects_own(
    call: str, passed: str, tmp_path: Path
) -> None:
    """Agents look such names up, and refuse others."""
    (tmp_path / "agent.py").write_text(
        "import sys\n\nfrom openai import OpenAI\n\n\ndef play(model: str, target: str) -> str:\n"
        "    messages = [{'role': 'user', 'content': target}]\n"
        "    reply = OpenAI().chat.completions.create(model=model, messages=messages)\n"
        "    return reply.choices[0].message.content\n\n\n"
        f"if __name__ == '__main__':\n    print({call})\n"
    )
    assert art_adapt("--isolated", "agent.py", cwd=tmp_path).returncode == 0
    module = (tmp_path / "agent_train.py").read_text()
    assert f"return play(model={passed}, target=scenario.target)" in module


@pytest.mark.parametrize(
    "around",
    [
        "def serve(mcp):\n    @mcp.tool()\n    def ask(text):\n",
        "def decorate(function):\n    def ask(text):\n",
    ],
)
def test_a_function_in_another_one_is_not_called_module_level(
    around: str, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(
        f"from openai import OpenAI\n\n\n{around}"
        "        messages = [{'role': 'user', 'content': text}]\n"
        "        return OpenAI().chat.completions.create(model='m', messages=messages)\n\n    return ask\n"
    )
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 2
    said = done.stderr.decode()
    assert ".ask, which only the function around it can run" in said
    assert "module level" in said.partition("next:")[2]
