"""A project's src folder: installing the project makes it importable from beside it."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from agent_files import art_adapt

AGENT = """
    from openai import OpenAI

    class Agent:
        def __init__(self, prompt: str) -> None:
            self.prompt = prompt

        def answer(self, question: str) -> str:
            messages = [
                {"role": "system", "content": self.prompt},
                {"role": "user", "content": question},
            ]
            reply = OpenAI().chat.completions.create(model="m", messages=messages)
            return reply.choices[0].message.content
    """
ABOVE = 'os.path.join(os.path.dirname(__file__), "..", "src")'
# The first lines of a file that is no part of the package, and where it lies.
STARTED = {
    "installed": ("examples/run.py", "from mini.agent import Agent"),
    "from the package": ("examples/run.py", "from mini import Agent"),
    "a command": ("scripts/run.py", "from mini.agent import Agent"),
    "a module": ("examples/run.py", "import mini.agent as started"),
    "with a path": (
        "examples/deep/run.py",
        f"import os, sys\nsys.path.append({ABOVE})\nfrom mini import Agent",
    ),
}


@pytest.mark.parametrize("is_package", [True, False])
def test_a_src_that_is_a_package_hides_no_library(
    tmp_path: Path, is_package: bool
) -> None:
    files = {
        "src/agents/__init__.py": "",
        "src/agents/prompts.py": "SYSTEM = 'Be brief.'\n",
        "main.py": """
            from agents import Agent, Runner

            from src.agents.prompts import SYSTEM

            def ask(question: str) -> str:
                agent = Agent(name="a", instructions=SYSTEM)
                return Runner.run_sync(agent, question).final_output
            """,
        **({"src/__init__.py": ""} if is_package else {}),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(dedent(text))
    done = art_adapt("--diff", "main.py", cwd=tmp_path)
    assert done.returncode == 1 and b"through a framework" in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("kind", "marker"),
    [*((kind, "pyproject.toml") for kind in STARTED), ("installed", None)],
)
def test_examples_say_how_an_agent_is_made(
    tmp_path: Path, kind: str, marker: str | None
) -> None:
    """Without a file that marks the project, the working folder is the project's."""
    where, imports = STARTED[kind]
    name = "started.Agent" if "started" in imports else "Agent"
    started = f"{imports}\n\nagent = {name}('You are a clerk.')\n\nprint(agent.answer('When?'))\n"
    files = {
        "src/mini/agent.py": dedent(AGENT),
        "src/mini/__init__.py": "from .agent import Agent\n",
        **({marker: "[project]\nname = 'mini'\n"} if marker else {}),
        where: started,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for named in ("src/mini/agent.py", where):
        done = art_adapt("--diff", named, cwd=tmp_path)
        assert b'Agent(prompt="You are a clerk.")' in done.stdout, done.stderr
