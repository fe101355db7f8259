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


MODEL = """\
from openai import OpenAI


def ask(messages):
    reply = OpenAI().chat.completions.create(model="m", messages=messages)
    return reply.choices[0].message.content
"""
IN_PACKAGE = """\
{imports}


class Agent:
    def chat(self, message: str) -> str:
        return ask([{{"role": "user", "content": message}}])
"""
# The agent's package, what marks its folder, and how it imports its own modules.
OF_ITS_OWN = {
    "pyproject.toml": ("desk", "pyproject.toml", "from desk.model import ask"),
    "setup.py": ("desk", "setup.py", "from desk.model import ask"),
    "the module": (
        "desk",
        "pyproject.toml",
        "from desk import model\n\n\ndef ask(messages):\n    return model.ask(messages)",
    ),
    "a package in it": (
        "desk/core",
        "pyproject.toml",
        "from desk.core.model import ask",
    ),
}


@pytest.mark.parametrize("kind", OF_ITS_OWN)
def test_a_package_with_a_marker_of_its_own_is_imported_from_around_it(
    kind: str, tmp_path: Path
) -> None:
    package, marker, imports = OF_ITS_OWN[kind]
    folder = tmp_path / package
    folder.mkdir(parents=True)
    for each in (folder, tmp_path / "desk"):
        (each / "__init__.py").touch()
    (folder / marker).touch()
    (folder / "model.py").write_text(MODEL)
    text = IN_PACKAGE.format(imports=imports)
    (folder / "agent.py").write_text(text)
    done = art_adapt("-y", f"{package}/agent.py", cwd=tmp_path)
    said = done.stdout.decode() + done.stderr.decode()
    assert done.returncode == 0 and f"policy call {package}/model.py:5" in said, said
    assert b"recorded" in (folder / "model.py").read_bytes()
    undone = art_adapt("--undo", f"{package}/agent.py", cwd=tmp_path)
    assert undone.returncode == 0, undone.stderr
    assert (folder / "model.py").read_text() == MODEL
    assert (folder / "agent.py").read_text() == text
