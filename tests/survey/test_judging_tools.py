"""A tool that asks a model is a side job, whichever file gives the agent its tools."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import art_adapt

TOOLS = """\
from openai import OpenAI


def review(report: str) -> str:
    verdict = OpenAI().chat.completions.create(
        model="o3-mini", messages=[{"role": "user", "content": "PASS or FAIL? " + report}]
    )
    return verdict.choices[0].message.content
"""
AGENT = """\
import json
from openai import OpenAI


class Agent:
    def __init__(self, client: OpenAI, tools=()):
        self.client = client
        self.tools = {{name: tool for name, tool in tools}}

    def add_tool(self, name, tool):
        self.tools[name] = tool

    def report(self, text: str) -> str:
        messages = [{{"role": "user", "content": text}}]
        for _ in range(9):
            message = self.client.chat.completions.create(model="m", messages=messages).choices[0].message
            messages.append(message)
            if not message.tool_calls:
                return message.content
            for call in message.tool_calls:
                result = {called}
                messages.append({{"role": "tool", "tool_call_id": call.id, "content": result}})
        return ""
"""
MAIN = """\
import sys
from openai import OpenAI
from agent import Agent
{imports}

{before}
if __name__ == "__main__":
    agent = Agent({arguments})
    print(agent.report(sys.argv[1]))
"""
BY_NAME = "self.tools[call.function.name](**json.loads(call.function.arguments))"
IN_DICT = "{'function': review, 'name': 'review'}"
# How the loop runs a tool, what the file of the tools adds, what the other file imports,
# does before, and gives.
GIVEN = {
    "pairs": (BY_NAME, "", "from tools import review", "", "OpenAI(), [('review', review)]"),
    "by name": (BY_NAME, "", "import tools", "", "OpenAI(), tools=[('review', tools.review)]"),
    "a list of its file": (
        BY_NAME, "\n\nALL = [('review', review)]\n", "from tools import ALL", "", "OpenAI(), ALL"
    ),
    "what a function returns": (
        BY_NAME,
        "\n\ndef build():\n    return [('review', review)]\n",
        "from tools import build",
        "",
        "OpenAI(), build()",
    ),
    "dicts that hold it": (
        "dict(self.tools)['all']['function'](call.function.arguments)",
        f"\n\nTOOL = {IN_DICT}\n",
        "from tools import TOOL",
        "",
        "OpenAI(), [('all', TOOL)]",
    ),
    "an object with a method": (
        "self.tools[call.function.name].run(call.function.arguments)",
        "\n\nclass Review:\n    def run(self, report):\n        return review(report)\n",
        "from tools import Review",
        "",
        "OpenAI(), [('review', Review())]",
    ),
}  # fmt: skip


def _written(folder: Path, kind: str) -> str:
    called, more, imports, before, arguments = GIVEN[kind]
    (folder / "tools.py").write_text(TOOLS + more)
    (folder / "agent.py").write_text(AGENT.format(called=called))
    main = MAIN.format(imports=imports, before=before, arguments=arguments)
    (folder / "main.py").write_text(main)
    done = art_adapt("agent.py", "-y", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.mark.parametrize("kind", GIVEN)
def test_a_judge_among_the_tools_is_a_side_job(kind: str, tmp_path: Path) -> None:
    said = _written(tmp_path, kind)
    assert "entry point agent.py:13  Agent.report(text: str)" in said
    trained = (tmp_path / "agent_train.py").read_text()
    assert 'AUXILIARY: tuple[str, ...] = ("review",)' in trained


def test_what_no_tool_asks_stays_as_it_is(tmp_path: Path) -> None:
    """Another agent in the file that makes this one."""
    called, _, _, _, _ = GIVEN["pairs"]
    (tmp_path / "agent.py").write_text(AGENT.format(called=called))
    (tmp_path / "tools.py").write_text(TOOLS)
    (tmp_path / "main.py").write_text(
        "from openai import OpenAI\nfrom agent import Agent\nfrom tools import review\n\n"
        "if __name__ == '__main__':\n    agent = Agent(OpenAI(), [('now', print)])\n"
        "    print(review(agent.report('Sum it up')))\n"
    )
    done = art_adapt("agent.py", "-y", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert '"review"' not in (tmp_path / "agent_train.py").read_text()
