"""Agents that a person types to, whatever holds the loop: a method, a command with options."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import art_adapt, first_now

START = """\
import asyncio

import click
import typer
from openai import AsyncOpenAI, OpenAI
from prompt_toolkit import PromptSession

app = typer.Typer()


"""
METHOD = """\
class Bot:
    def __init__(self, name: str):
        self.client = OpenAI()
        self.messages = [{"role": "system", "content": f"You are {name}."}]

    def chat(self, greeting: str = "Hello") -> None:
        print(greeting)
        while True:
            text = input("> ")
            if not text:
                break
            self.messages.append({"role": "user", "content": text})
            reply = self.client.chat.completions.create(model="m", messages=self.messages)
            self.messages.append({"role": "assistant", "content": reply.choices[0].message.content})
            print(f"bot: {reply.choices[0].message.content}")


if __name__ == "__main__":
    Bot("Ada").chat()
"""
TYPED = {
    "a method": (METHOD, {"name", "inputs"}, "training.run_command(agent.chat, "),
    "an async method": (
        METHOD.replace("def chat", "async def chat")
        .replace("OpenAI()", "AsyncOpenAI()")
        .replace("= self.client", "= await self.client")
        .replace('Bot("Ada").chat()', 'asyncio.run(Bot("Ada").chat())'),
        {"name", "inputs"},
        "training.run_command(agent.chat, ",
    ),
    "a prompt of prompt_toolkit": (
        METHOD.replace('input("> ")', "self.ask()").replace(
            "    def chat",
            "    def ask(self) -> str:\n        try:\n"
            "            return PromptSession().prompt('> ').strip()\n"
            "        except EOFError:\n            return ''\n\n    def chat",
        ),
        {"name", "inputs"},
        "training.run_command(agent.chat, ",
    ),
    "a prompt of click": (
        METHOD.replace('input("> ")', 'click.prompt("You")'),
        {"name", "inputs"},
        "training.run_command(agent.chat, ",
    ),
    "a prompt of typer": (
        METHOD.replace('input("> ")', 'typer.prompt("You", default="")'),
        {"name", "inputs"},
        "training.run_command(agent.chat, ",
    ),
    "a command with options": (
        """\
@app.command()
def chat(model: str = typer.Option("gpt-4o"), brief: bool = True) -> None:
    messages = []
    while text := input("> "):
        messages.append({"role": "user", "content": text})
        reply = OpenAI().chat.completions.create(model=model, messages=messages)
        messages.append(reply.choices[0].message)
        print(reply.choices[0].message.content)


if __name__ == "__main__":
    app()
""",
        {"inputs"},
        "training.run_command(lambda: chat(model=",
    ),
}
GIVEN = """\
def chat(name: str, goal: str | None) -> None:
    messages = [{"role": "system", "content": f"You are {name}. {goal}"}]
    while True:
        text = ASK
        if not text:
            break
        messages.append({"role": "user", "content": text})
        reply = OpenAI().chat.completions.create(model="m", messages=messages)
        messages.append(reply.choices[0].message)
        print(reply.choices[0].message.content)


if __name__ == "__main__":
    chat("Ada", None)
"""
PLUS = {"name", "goal", "inputs"}
LAMBDA = "lambda: chat(name=scenario.name, goal=scenario.goal)"
TYPED |= {
    "a function that has to be given something": (
        GIVEN.replace("ASK", 'input("> ")'),
        PLUS,
        LAMBDA,
    ),
    "it asks in a function of its own": (
        GIVEN.replace("ASK", "ask()").replace(
            "def chat", "def ask():\n    return input().strip()\n\n\ndef chat"
        ),
        PLUS,
        LAMBDA,
    ),
    "it asks in another thread": (
        GIVEN.replace("def chat", "async def chat")
        .replace("ASK", "await asyncio.to_thread(input)")
        .replace('chat("Ada", None)', 'asyncio.run(chat("Ada", None))'),
        PLUS,
        LAMBDA,
    ),
}


def test_an_agent_that_asks_beside_its_task_is_given_the_task(tmp_path: Path) -> None:
    text = GIVEN.replace("while True", "for _ in range(3)").replace("ASK", "goal")
    agent = text.replace(
        "    messages = ", '    goal = goal or input("> ")\n    messages = '
    )
    (tmp_path / "bot.py").write_text(START + agent)
    assert art_adapt("--isolated", "bot.py", cwd=tmp_path).returncode == 0
    module = (tmp_path / "bot_train.py").read_text()
    assert "chat(name=scenario.name, goal=scenario.goal)" in module
    assert "inputs" not in module


@pytest.mark.parametrize("kind", first_now(TYPED, 5))
def test_what_is_typed_is_the_scenarios(kind: str, tmp_path: Path) -> None:
    text, fields, call = TYPED[kind]
    (tmp_path / "bot.py").write_text(START + text)
    assert art_adapt("--isolated", "bot.py", cwd=tmp_path).returncode == 0
    module = (tmp_path / "bot_train.py").read_text()
    assert call in module, module
    row = {"name": "Ada", "goal": "Help.", "inputs": ["What is it?", "And then?"]}
    rows = [{name: row[name] for name in fields} for _ in range(4)]
    scenarios = "".join(f"{json.dumps(row)}\n" for row in rows)
    (tmp_path / "scenarios.jsonl").write_text(scenarios)
    done = art_adapt("rehearse", "bot_train.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert b"16 of 16 episodes" in done.stdout and b"2.0 turns" in done.stdout
