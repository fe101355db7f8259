"""An agent of two files is adapted through either of them: a second run adds no hook to a hook."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from agent_files import art_adapt

CORE = """\
from openai import OpenAI


class Core:
    def __init__(self, prompt: str = "Be brief."):
        self.client = OpenAI()
        self.prompt = prompt

    def send(self, text: str, previous: str | None = None):
        reply = self.client.responses.create(
            model="m", input=[{{"role": "user", "content": text}}], previous_response_id=previous
        )
        for _ in range(3):
            calls = [item for item in reply.output if item.type == "function_call"]
            if not calls:
                break
            results = [
                {{"type": "function_call_output", "call_id": call.call_id, "output": "1"}}
                for call in calls
            ]
            reply = self.client.responses.create(
                model="m", input=results, previous_response_id=reply.id
            )
        {returns}
"""
MAIN = """\
from core import Core


def loop():
    core, previous = Core(prompt="x"), None
    while True:
        {keeps} = core.send(input("> "), previous=previous)
        print(text)


if __name__ == "__main__":
    loop()
"""
RETURNS = {
    "the id first": ("return reply.id, reply.output_text", "previous, text"),
    "the id last": ("return reply.output_text, reply.id", "text, previous"),
    "three": (
        "return reply.id, reply.output_text, reply.usage",
        "previous, text, usage",
    ),
    "names": (
        "said = reply.output_text\n        return reply.id, said",
        "previous, text",
    ),
    "the text alone": ("return reply.output_text", "text"),
}


@pytest.mark.parametrize("kind", RETURNS)
def test_the_other_file_finds_nothing_to_change(kind: str, tmp_path: Path) -> None:
    returns, keeps = RETURNS[kind]
    core = tmp_path / "core.py"
    core.write_text(CORE.format(returns=returns))
    (tmp_path / "main.py").write_text(MAIN.format(keeps=keeps))
    assert art_adapt("--isolated", "main.py", cwd=tmp_path).returncode == 0
    adapted = core.read_text()
    assert adapted.count("final_answer(") == 1
    art_adapt("--isolated", "core.py", cwd=tmp_path)
    assert core.read_text() == adapted


def test_a_file_that_cannot_be_read_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        "from openai import OpenAI\n\nimport tools\n\n\ndef run(question: str) -> str:\n"
        "    messages = [{'role': 'user', 'content': question}]\n"
        "    reply = OpenAI().chat.completions.create(model='m', messages=messages, tools=tools.ALL)\n"
        "    return reply.choices[0].message.content\n"
    )
    (tmp_path / "tools.py").write_text("ALL = []\n\n\ndef broken(:\n    pass\n")
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    said = " ".join(done.stdout.decode().split())
    assert done.returncode == 0
    assert "not handled tools.py:4 a file that could not be read" in said
    assert "First: tools.py:4: syntax error" in said


@pytest.mark.parametrize(
    ("broken", "why", "next_step"),
    [
        ("def ask(:\n", "syntax error", "fix the syntax error"),
        ("# coding: klingon\n", "not valid Python: unknown encoding", "coding line"),
    ],
)
def test_a_file_with_the_agents_only_call_that_cannot_be_read_is_named(
    broken: str, why: str, next_step: str, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(
        "from llm import ask\n\n\ndef run(question: str) -> str:\n    return ask(question)\n"
    )
    (tmp_path / "llm.py").write_text(broken)
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    said = done.stderr.decode()
    assert done.returncode == 2
    assert "llm.py:1" in said and why in said and next_step in said
    assert "no completion call was found in its others" in said


def test_a_flag_takes_the_place_of_an_earlier_answer(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        "from openai import OpenAI\n\n\ndef run(question: str) -> str:\n"
        "    messages = [{'role': 'user', 'content': question}]\n"
        "    reply = OpenAI().chat.completions.create(model='m', messages=messages)\n"
        "    return reply.choices[0].message.content\n"
    )
    table = '[tool.art-adapt.agents."agent.py"]{}\nproject = "first"\n'
    file = tmp_path / "pyproject.toml"
    file.write_text(table.format(" # answers to art-adapt"))
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    flags = ("--project", "second", "--epochs", "2")
    said = art_adapt("agent.py", *flags, cwd=tmp_path).stdout.decode()
    assert "changed --project second (before: --project first)" in " ".join(
        said.split()
    )
    assert 'project = "second"' in file.read_text()
    assert "epochs" not in file.read_text()  # nobody was asked
    (tmp_path / "agent_train.py").unlink()
    said = art_adapt("agent.py", cwd=tmp_path).stdout.decode()
    assert "project second (config)" in " ".join(said.split())
    # What somebody has written stays.
    file.write_text(table.format(""))
    art_adapt("agent.py", "--project", "third", cwd=tmp_path)
    assert 'project = "first"' in file.read_text()
    # Also beside a table that art-adapt has made for another agent.
    made = '[tool.art-adapt.agents."other.py"] # answers to art-adapt\nepochs = 1\n'
    file.write_text(f"{table.format('')}\n{made}")
    art_adapt("agent.py", "--project", "fourth", cwd=tmp_path)
    assert 'project = "first"' in file.read_text()
