"""What tools do is found, too, where the agent's own file does not import them."""

from __future__ import annotations

from pathlib import Path

import pytest

from art_adapt.source import read_source
from art_adapt.survey.survey import survey

AGENT = """\
import json
from openai import OpenAI


class Agent:
    def __init__(self, tools):
        KEEPS

    def run(self, task: str) -> str:
        messages = [{"role": "user", "content": task}]
        while True:
            reply = OpenAI().chat.completions.create(model="m", messages=messages).choices[0].message
            if not reply.tool_calls:
                return reply.content or ""
            messages.append(reply)
            for call in reply.tool_calls:
                result = CALLS
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
"""
TOOLS = """\
import subprocess


class Shell:
    name = "shell"

    def __init__(self, root):
        self.root = root

    def run(self, command):
        return subprocess.run(command, shell=True, cwd=self.root).stdout


def build_tools(root):
    return [Shell(root)]
"""
MAIN = (
    "from agent import Agent\nfrom tools import build_tools\n\n"
    "if __name__ == '__main__':\n    print(Agent(build_tools('.')).run('Go.'))\n"
)
ONE = "self.tools[call.function.name].run(call.function.arguments)"
# How the agent keeps its tools, and how it calls one.
KEPT = {
    "a dict of them": ("self.tools = {each.name: each for each in tools}", ONE),
    "a loop": ("self.tools = {}\n        for each in tools:\n            self.tools[each.name] = each", ONE),
    "as they are": (
        "self.tools = tools",
        "next(e for e in self.tools if e.name == call.function.name).run(call.function.arguments)",
    ),
    "by get": ("self.tools = {e.name: e for e in tools}", ONE.replace("[call.function.name]", ".get(call.function.name)")),
    "a list of its own": (
        "self.tools = list(tools)",
        "[e for e in self.tools if e.name == call.function.name][0].run(call.function.arguments)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", KEPT)
def test_what_a_tool_from_another_file_starts_is_found(
    kind: str, tmp_path: Path
) -> None:
    keeps, calls = KEPT[kind]
    agent = AGENT.replace("KEEPS", keeps).replace("CALLS", calls)
    (tmp_path / "pyproject.toml").touch()
    for name, text in (("agent", agent), ("tools", TOOLS), ("main", MAIN)):
        (tmp_path / f"{name}.py").write_text(text)
    found = survey([read_source(tmp_path / "agent.py")])
    effects = [effect.what for file in found.files for effect in file.effects]
    assert "subprocess.run()" in effects, effects
