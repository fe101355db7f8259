"""The commands with which a project's documents say that they run its agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from art_adapt.guide.commands import as_typed, commands_of

SAID = {
    "Run it:\n\n    $ python bot/agent.py 'a question'\n": "python bot/agent.py 'a question'",
    "```sh\npython -m bot.agent\n```\n": "python -m bot.agent",
    "Run: `python bot/agent.py notes.db`\n": "python bot/agent.py notes.db",
    "    TEAM=blue PORT=1 python -m bot 'Hi'\n": "env TEAM=blue PORT=1 python -m bot Hi",
    "1. `uv run python -m bot 'Hi'`, then wait\n": "uv run python -m bot Hi",
}


@pytest.fixture(autouse=True)
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


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


def test_what_cannot_be_read_beside_an_agent_is_passed_over(tmp_path: Path) -> None:
    agent = agent_in(tmp_path, "    python -m bot\n")
    (agent.parent / ".#agent.py").symlink_to("nobody@host")
    (agent.parent / "folder.py").mkdir()
    assert commands_of(agent) == ["python -m bot"]


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


TARGETS = {"main": "main()", "Cli.run": "Cli.run()", "main [all]": "main()"}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("folder", ["", "src"])
def test_a_command_without_a_main_module_calls_its_function(
    tmp_path: Path, folder: str, target: str
) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[project]\nname = 'notes'\n\n[project.scripts]\n"
        f"fieldnotes = 'notes.cli:{target}'\n"
    )
    (tmp_path / "README.md").write_text('    fieldnotes ask "Where are otters?"\n')
    package = tmp_path / folder / "notes"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "agent.py").write_text("from . import store\n")
    (package / "cli.py").write_text(
        "from .agent import store\n\n\ndef main():\n    ...\n"
    )
    path = "env PYTHONPATH=src " * bool(folder)
    called = TARGETS[target]
    call = f"'from notes.cli import {called.partition('.')[0].removesuffix('()')}; {called}'"
    for name in ("cli.py", "agent.py"):
        assert commands_of(package / name) == [
            f"{path}python -c {call} ask 'Where are otters?'"
        ]


def test_a_file_of_a_package_is_run_as_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a file it could not import what is beside it."""
    monkeypatch.chdir(tmp_path)
    package = tmp_path / "src" / "notes"
    package.mkdir(parents=True)
    (tmp_path / "pyproject.toml").touch()
    (package / "__init__.py").touch()
    (package / "store.py").touch()
    run = "if __name__ == '__main__':\n    print(store)\n"
    (package / "cli.py").write_text(f"from . import store\n\n{run}")
    (package / "alone.py").write_text(run)
    assert commands_of(package / "cli.py") == ["env PYTHONPATH=src python -m notes.cli"]
    assert commands_of(package / "alone.py") == ["python src/notes/alone.py"]


def test_a_command_that_runs_what_imports_the_agent(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "README.md").write_text("    uvicorn api:app --port 8000\n")
    (tmp_path / "api.py").write_text("from desk import Desk\napp = Desk()\n")
    (tmp_path / "desk.py").write_text("class Desk: ...\n")
    (tmp_path / "other.py").write_text("DESK = 'desk'\n")
    for name in ("api.py", "desk.py"):
        assert commands_of(tmp_path / name) == ["uvicorn api:app --port 8000"]
    assert not commands_of(tmp_path / "other.py")


def agent_in(folder: Path, text: str) -> Path:
    (folder / "pyproject.toml").touch()
    (folder / "README.md").write_text(text)
    package = folder / "bot"
    package.mkdir()
    for name in ("__init__", "__main__", "agent"):
        (package / f"{name}.py").write_text("")
    return package / "agent.py"


PARTS = {
    "a Dockerfile of its own": ("api/Dockerfile", 'CMD ["uvicorn", "main:app"]\n'),
    "a README of its own": ("api/README.md", "    uvicorn main:app\n"),
    "the README above it": ("README.md", "```\ncd api\nuvicorn main:app\n```\n"),
    "in one line": ("README.md", "Run `cd api && uvicorn main:app`.\n"),
    "as if it were here": ("README.md", "    $ uvicorn main:app\n"),
}


@pytest.mark.parametrize("kind", PARTS)
def test_a_command_runs_where_its_file_is(kind: str, tmp_path: Path) -> None:
    document, text = PARTS[kind]
    part = tmp_path / "api"
    part.mkdir()
    (tmp_path / ".git").mkdir()
    (part / "requirements.txt").touch()
    (part / "main.py").write_text("from agent import run\napp = run\n")
    (part / "agent.py").write_text("def run(): ...\n")
    (tmp_path / document).write_text(text)
    assert commands_of(Path("api/agent.py")) == ["cd api && uvicorn main:app"]


def test_a_command_above_a_part_runs_there(tmp_path: Path) -> None:
    part = tmp_path / "api"
    part.mkdir()
    (tmp_path / ".git").mkdir()
    (part / "requirements.txt").touch()
    (part / "agent.py").write_text("def run(): ...\n")
    (tmp_path / "README.md").write_text(
        "```\ncd web\nnpm i\n```\n```\npython api/agent.py Hi\n```\n"
    )
    assert commands_of(Path("api/agent.py")) == ["python api/agent.py Hi"]


def test_a_program_that_is_not_here_comes_last(tmp_path: Path) -> None:
    text = "    A=1 no-uv run agent.py Hi\n    python bot/agent.py Hi\n"
    agent = agent_in(tmp_path, text.replace("no-uv run", "pdm run bot/"))
    assert commands_of(agent)[0] == "python bot/agent.py Hi"


def test_a_typed_line_may_name_its_folder() -> None:
    assert as_typed("python a.py 'b c'") == (Path(), ["python", "a.py", "b c"])
    assert as_typed("cd api && cd src && python a.py") == (
        Path("api/src"),
        ["python", "a.py"],
    )
    assert as_typed("PORT=1 python a.py") == (
        Path(),
        ["env", "PORT=1", "python", "a.py"],
    )
    assert as_typed("cd api") == (Path(), ["cd", "api"])
