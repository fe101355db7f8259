"""What one call gives that asks for one fixed thing is not how the application uses an agent."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import art_adapt

AGENT = """\
from openai import OpenAI

client = OpenAI()
SYSTEM = "You are the support agent."


def answer(text: str, system: str = {default}, tools=None) -> str:
    messages = [{{"role": "system", "content": system or SYSTEM}}, {{"role": "user", "content": text}}]
    reply = client.chat.completions.create(model="m", messages=messages, tools=tools)
    return reply.choices[0].message.content


{use}
"""
GREETING = 'def greeting():\n    return answer("Say hello.", {given})\n'
HANDLER = "def handle(event):\n    return answer(event.text, {given})\n"


def call(folder: Path, default: str, use: str) -> str:
    (folder / "agent.py").write_text(AGENT.format(default=default, use=use))
    done = art_adapt("--diff", "--entry", "answer", "agent.py", cwd=folder)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.decode().splitlines()
    return next(
        line for line in lines if "return answer(" in line and "scenario" in line
    )


@pytest.mark.parametrize("given", ['system="Only greet."', '"Only greet."'])
@pytest.mark.parametrize("default", ["SYSTEM", "'Help.'"])
def test_a_default_stays_where_one_fixed_request_overrules_it(
    given: str, default: str, tmp_path: Path
) -> None:
    said = call(tmp_path, default, GREETING.format(given=given))
    assert said == "+    return answer(text=scenario.text)"


def test_a_default_stays_where_another_caller_leaves_it(tmp_path: Path) -> None:
    use = f"{HANDLER.format(given='system=event.style')}\n\n{HANDLER.format(given='').replace('handle', 'other')}"
    assert call(tmp_path, "SYSTEM", use) == "+    return answer(text=scenario.text)"


def test_what_says_nothing_is_filled_in(tmp_path: Path) -> None:
    use = "TOOLS = [{'type': 'function', 'function': {'name': 'look'}}]\n\n\n"
    said = call(tmp_path, "SYSTEM", use + GREETING.format(given="tools=TOOLS"))
    assert "tools=TOOLS" in said
