"""Agents that keep their answer: what the model says last is it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import art_adapt

START = """\
import json

from openai import OpenAI

TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {"of": {"type": "string"}}, "required": ["of"]}}}]


def look(of: str) -> str:
    return f"{of}: 42"


"""
TURN = """\
reply = OpenAI().chat.completions.create(model="gpt-4o", messages=messages, tools=TOOLS).choices[0].message
messages.append(reply)
for call in reply.tool_calls or []:
    try:
        result = look(**json.loads(call.function.arguments))
    except (TypeError, ValueError) as error:
        result = repr(error)
    messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
"""


def indented(by: int) -> str:
    return "".join(f"{' ' * by}{line}\n" for line in TURN.splitlines())


KEEPING = {
    "a function that hands it to others": f"""
def run(question: str, done=lambda text: None) -> None:
    messages = [{{"role": "user", "content": question}}]
    for _ in range(8):
{indented(8)}
        if not reply.tool_calls:
            done(reply.content)
            break
""",
    "a method that says whether it went well": f"""
class Helper:
    def __init__(self):
        self.log = []

    def run(self, question: str) -> bool:
        messages = self.log
        messages.append({{"role": "user", "content": question}})
        for _ in range(8):
{indented(12)}
            if not reply.tool_calls:
                return True
        return False
""",
    "a generator of events": f"""
def run(question: str):
    messages = [{{"role": "user", "content": question}}]
    for _ in range(8):
{indented(8)}
        yield {{"turn": len(messages)}}
        if not reply.tool_calls:
            return
""",
}


@pytest.mark.parametrize("kind", KEEPING)
def test_what_the_model_says_last_is_the_answer(kind: str, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(START + KEEPING[kind])
    rows = [{"question": f"What is it? ({n})"} for n in range(4)]
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    (tmp_path / "scenarios.jsonl").write_text(text)
    adapted = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert adapted.returncode == 0
    assert b"the last message of the model is" in b" ".join(adapted.stdout.split())
    module = (tmp_path / "agent_train.py").read_text()
    assert "return training.last_said()" in module
    done = art_adapt("rehearse", "agent_train.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert b"16 of 16 episodes" in done.stdout


def test_a_branch_that_passes_the_mark_by_has_an_answer(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        f"""{START}
def run(question: str, quiet: bool) -> int:
    messages = [{{"role": "user", "content": question}}]
    for _ in range(8):
{indented(8)}
        if not reply.tool_calls:
            break
    if not quiet:
        print(reply.content)
    return 0
"""
    )
    rows = [{"question": f"What is it? ({n})", "quiet": n % 2 == 0} for n in range(4)]
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    (tmp_path / "scenarios.jsonl").write_text(text)
    assert art_adapt("--isolated", "agent.py", cwd=tmp_path).returncode == 0
    assert "print(final_answer(reply.content))" in (tmp_path / "agent.py").read_text()
    assert "last_said()" in (tmp_path / "agent_train.py").read_text()
    done = art_adapt("rehearse", "agent_train.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert b"answered    16 of 16 episodes" in done.stdout
