"""The commands with which a project's documents say that they run its agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from art_adapt.guide.commands import commands_of

SAID = {
    "Run it:\n\n    $ python bot/agent.py 'a question'\n": "python bot/agent.py 'a question'",
    "```sh\npython -m bot.agent\n```\n": "python -m bot.agent",
    "Run: `python bot/agent.py notes.db`\n": "python bot/agent.py notes.db",
    "    TEAM=blue PORT=1 python -m bot 'Hi'\n": "env TEAM=blue PORT=1 python -m bot Hi",
    "1. `uv run python -m bot 'Hi'`, then wait\n": "uv run python -m bot Hi",
}


@pytest.mark.parametrize("text", SAID)
def test_what_a_readme_says(tmp_path: Path, text: str) -> None:
    assert commands_of(agent_in(tmp_path, text))[0] == SAID[text]


@pytest.mark.parametrize(
    "text",
    [
        "    python bot/agent.py <question>\n",
        "    pip install bot.agent\n",
        "    python other.py\n",
        "See `bot/agent.py` and python.\n",
    ],
)
def test_what_is_no_command_that_runs_it(tmp_path: Path, text: str) -> None:
    assert not commands_of(agent_in(tmp_path, text))


def test_prose_that_begins_with_a_commands_name_is_none(tmp_path: Path) -> None:
    agent = agent_in(tmp_path, "ask-the-bot answers questions about notes.\n")
    (tmp_path / "pyproject.toml").write_text(
        "[project]\nname = 'bot'\n\n[project.scripts]\nask-the-bot = 'bot.agent:main'\n"
    )
    assert commands_of(agent) == ["python -m bot"]


@pytest.mark.parametrize("folder", ["", "src"])
def test_a_projects_own_command_is_run_as_its_readme_says(
    tmp_path: Path, folder: str
) -> None:
    """It is not installed here, so its package is run; bare, it would only print its help."""
    inside = tmp_path / folder
    inside.mkdir(exist_ok=True)
    text = "    pip install -e .\n    ask-the-bot answer notes.txt\n"
    agent = agent_in(inside, text)
    (tmp_path / "README.md").write_text(text)
    (inside / "pyproject.toml").unlink()
    (tmp_path / "pyproject.toml").write_text(
        "[project]\nname = 'bot'\n\n[project.scripts]\nask-the-bot = 'bot.agent:main'\n"
    )
    path = "env PYTHONPATH=src " * bool(folder)
    assert commands_of(agent) == [f"{path}python -m bot answer notes.txt"]


def agent_in(folder: Path, text: str) -> Path:
    (folder / "pyproject.toml").touch()
    (folder / "README.md").write_text(text)
    package = folder / "bot"
    package.mkdir()
    for name in ("__init__", "__main__", "agent"):
        (package / f"{name}.py").write_text("")
    return package / "agent.py"
