"""A run may show the episode in a file that does not import the one that was named."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from agent_files import art_adapt

FILES = {
    "main.py": """\
        from importlib import import_module


        def log_step(reward: float) -> None:
            print("step", reward)


        def run_task(task: str) -> dict:
            pipeline = import_module("lib." + "pipeline")
            answer = pipeline.Pipeline().run(f"Briefly: {task}")
            reward = float(len(answer) > 3)
            log_step(reward=reward)
            return {"answer": answer, "reward": reward}


        if __name__ == "__main__":
            print(run_task("say a word"))
        """,
    "lib/__init__.py": "",
    "lib/llm.py": """\
        from openai import OpenAI


        class Llm:
            def ask(self, text: str) -> str:
                messages = [{"role": "user", "content": text}]
                reply = OpenAI().chat.completions.create(model="m", messages=messages)
                return reply.choices[0].message.content or ""
        """,
    "lib/pipeline.py": """\
        from lib.llm import Llm


        class Pipeline:
            def __init__(self) -> None:
                self.llm = Llm()

            def run(self, text: str) -> str:
                return self.llm.ask(text)
        """,
}


@pytest.fixture
def adapted(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(dedent(text))
    (folder / ".git").mkdir()
    run = ("capture", "--scripted", "--", sys.executable, "main.py")
    assert art_adapt(*run, cwd=folder).returncode == 0
    done = art_adapt("-y", "lib/pipeline.py", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "main_train.py").exists() and b"recorded" in texts(folder)[
        "llm.py"
    ]
    return folder


def texts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*.py")}


def test_undo_takes_back_what_the_same_command_wrote(adapted: Path) -> None:
    done = art_adapt("--undo", "lib/pipeline.py", cwd=adapted)
    assert done.returncode == 0, done.stderr
    left = {str(p.relative_to(adapted)) for p in adapted.rglob("*.py")}
    assert left == set(FILES)
    assert all((adapted / n).read_text() == dedent(t) for n, t in FILES.items())


def test_the_same_command_changes_nothing_where_nobody_has_the_run(
    adapted: Path, tmp_path: Path
) -> None:
    """``.art-adapt`` is ignored by git, so a colleague's clone lacks it."""
    clone = tmp_path / "clone"
    shutil.copytree(adapted, clone, ignore=shutil.ignore_patterns(".art-adapt"))
    before = texts(clone)
    done = art_adapt("-y", "lib/pipeline.py", cwd=clone)
    assert done.returncode == 0 and b"Nothing to change" in done.stdout, done.stdout
    assert texts(clone) == before
    assert b"run_task  (as before)" in done.stdout


INJECTED = {
    "ag/__init__.py": "",
    "ag/__main__.py": "from ag.cli import main\n\nmain()\n",
    "ag/cli.py": """\
        from ag.llm import make_ask
        from ag.loop import run_loop


        def main() -> None:
            ask = make_ask()
            for question in ["How many orders?", "How many payments?"]:
                print(run_loop(question, ask))
        """,
    "ag/llm.py": """\
        from openai import OpenAI


        def make_ask():
            client = OpenAI()

            def ask(messages):
                reply = client.chat.completions.create(model="m", messages=messages)
                return reply.choices[0].message.content

            return ask
        """,
    "ag/loop.py": """\
        def run_loop(question, ask):
            return ask([{"role": "user", "content": question}])
        """,
}


def test_a_call_that_only_a_run_connects_is_captured_and_undone(tmp_path: Path) -> None:
    """No import leads from the loop to the model: a closure is handed to it."""
    for name, text in INJECTED.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(dedent(text))
    before = {name: (tmp_path / name).read_bytes() for name in INJECTED}
    run = ("capture", "--scripted", "--", sys.executable, "-m", "ag")
    done = art_adapt(*run, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert b"2 new rows in ag/scenarios.jsonl" in done.stderr, done.stderr.decode()
    assert art_adapt("ag/loop.py", cwd=tmp_path).returncode == 0
    assert (tmp_path / "ag/llm.py").read_bytes() != before["ag/llm.py"]
    assert art_adapt("--undo", "ag/loop.py", cwd=tmp_path).returncode == 0
    assert {name: (tmp_path / name).read_bytes() for name in INJECTED} == before
    assert not (tmp_path / "ag/art_recording.py").exists()
