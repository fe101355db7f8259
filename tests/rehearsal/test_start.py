"""A train module runs where its agent runs: it reads files by paths that count from there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from agent_files import art_adapt, first_now

AGENT = """\
import sys

from openai import OpenAI


def answer(question: str) -> str:
    style = open("style.txt").read()
    messages = [{"role": "system", "content": style}, {"role": "user", "content": question}]
    reply = OpenAI().chat.completions.create(model="m", messages=messages)
    return reply.choices[0].message.content


if __name__ == "__main__":
    print(answer(sys.argv[1]))
"""
ROWS = '{"question": "What is open?"}\n{"question": "What is late?"}\n'


def project(folder: Path, package: str, marks: bool) -> Path:
    """A project with a style beside the folder of its agent."""
    home = folder / package
    home.mkdir(parents=True)
    (folder / "pyproject.toml").touch()
    (folder / "style.txt").write_text("Be brief.")
    (home / "agent.py").write_text(AGENT)
    if marks:
        (home / "__init__.py").touch()
        (home / "agent.py").write_text("from . import __name__ as us\n" + AGENT)
    return home / "agent.py"


def rehearsed(folder: Path, agent: Path) -> str:
    """What a rehearsal says of an agent, with rows of its own."""
    agent.with_name("scenarios.jsonl").write_text(ROWS)
    done = art_adapt("--yes", "--isolated", f"{agent}", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    module = agent.with_name(f"{agent.stem}_train.py")
    done = art_adapt("rehearse", f"{module}", cwd=folder)
    return done.stdout.decode() + done.stderr.decode()


def test_a_package_below_src_runs_in_the_project_s_folder(tmp_path: Path) -> None:
    said = rehearsed(tmp_path, project(tmp_path, "src/desk", marks=True))
    assert "Nothing found" in said
    assert "train       PYTHONPATH=src python -m desk.agent_train\n" in said


@pytest.mark.wide
@pytest.mark.parametrize(
    ("marks", "parted"), first_now([(True, False), (False, False), (False, True)])
)
def test_an_agent_runs_where_it_was_watched(
    marks: bool, parted: bool, tmp_path: Path
) -> None:
    agent = project(tmp_path, "app/desk", marks)
    start = ("-m", "app.desk.agent") if marks else ("app/desk/agent.py",)
    if parted:  # its folder has markers of its own
        (agent.parent / "requirements.txt").touch()
    command = (sys.executable, *start, "What is open?")
    watched = art_adapt("capture", "--scripted", "--", *command, cwd=tmp_path)
    assert watched.returncode == 0, watched.stderr.decode()
    said = rehearsed(tmp_path, agent)
    assert "Nothing found" in said
    module = "-m desk.agent_train" if marks else "app/desk/agent_train.py"
    above = "PYTHONPATH=app " if marks else ""
    assert f"train       {above}python {module}\n" in said


@pytest.mark.wide
def test_another_agent_s_run_moves_no_training(tmp_path: Path) -> None:
    agent = project(tmp_path, "second", marks=False)
    (agent.parent / "style.txt").write_text("Be long.")
    first = project(tmp_path / "first", "", marks=False)
    (tmp_path / "first" / "pyproject.toml").unlink()
    command = (sys.executable, "agent.py", "What is open?")
    watched = art_adapt("capture", "--scripted", "--", *command, cwd=first.parent)
    assert watched.returncode == 0, watched.stderr.decode()
    said = rehearsed(tmp_path, agent)
    assert "train       cd second && python agent_train.py\n" in said


IN_PACKAGE = """\
from openai import OpenAI

from .schemas import Report
from envs.grader import grade


def run(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    reply = OpenAI().chat.completions.create(model="m", messages=messages)
    Report(grade=grade("text"))
    return reply.choices[0].message.content or ""
"""
SCHEMAS = """\
from pydantic import BaseModel


class Grade(BaseModel):
    score: float


class Report(BaseModel):
    grade: Grade
"""


@pytest.mark.parametrize(
    ("name", "is_package"),
    first_now(
        [("my-agent", True), ("agent", False), ("06_agent", True), ("agent.v2", True)],
        2,
    ),
)
def test_a_folder_that_no_import_can_spell_is_no_package(
    name: str, is_package: bool, tmp_path: Path
) -> None:
    """A marker lies in it all the same; nor does the copy for a rehearsal become a package."""
    root = tmp_path / name
    files = {
        "src/__init__.py": "",
        "src/schemas.py": SCHEMAS,
        "src/pipeline.py": IN_PACKAGE,
        "envs/__init__.py": "",
        "envs/grader.py": "from src.schemas import Grade\n\n\n"
        "def grade(text: str) -> Grade:\n    return Grade(score=len(text))\n",
        "main.py": "from src.pipeline import run\n\nprint(run('hello'))\n",
        **({"__init__.py": ""} if is_package else {}),
    }
    for file, text in files.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text)
    (root / ".git").mkdir()
    said = rehearsed(root, root / "src/pipeline.py")
    assert "python -m src.pipeline_train\n" in said, said
    assert "Nothing found" in said, said


@pytest.mark.wide
def test_an_agent_that_a_test_imports_in_its_folder_runs_there(tmp_path: Path) -> None:
    """A fixture changes the working folder first: the agent opens its files by bare names."""
    agent = project(tmp_path, "app", marks=False)
    (tmp_path / "style.txt").rename(agent.with_name("style.txt"))
    text = agent.read_text().replace("    style = ", "    style = STYLE or ")
    head = "\n\ndef answer"
    agent.write_text(text.replace(head, f"\nSTYLE = open('style.txt').read(){head}"))
    (tmp_path / "test_agent.py").write_text(
        "import os\nimport pathlib\nimport sys\n\n\n"
        "def test_an_answer():\n"
        "    app = pathlib.Path(__file__).parent / 'app'\n"
        "    sys.path.insert(0, str(app))\n    os.chdir(app)\n    import agent\n\n"
        "    assert agent.answer('What is open?')\n"
    )
    pytest_ = (
        "--scripted",
        "--",
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "test_agent.py",
    )
    seen = art_adapt("capture", *pytest_, cwd=tmp_path)
    assert seen.returncode == 0, seen.stderr.decode()
    said = rehearsed(tmp_path, agent)
    assert "Nothing found" in said, said
    assert "train       cd app && python agent_train.py\n" in said, said
