"""``--undo`` takes back what adapting wrote, whichever of its files is named (G1)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from agent_files import AGENTS, art_adapt, copy_of

CLIENT = """\
from openai import OpenAI


class Llm:
    def __init__(self):
        self.client = OpenAI()

    def ask(self, messages):
        reply = self.client.chat.completions.create(model="m", messages=messages)
        return reply.choices[0].message.content
"""
LOOP = """\
from {client} import Llm


class Loop:
    def __init__(self):
        self.llm = Llm()

    def run(self, question: str) -> str:
        messages = [{{"role": "user", "content": question}}]
        for _ in range(5):
            said = self.llm.ask(messages)
            messages.append({{"role": "assistant", "content": said}})
            if said.startswith("FINAL"):
                return said
            messages.append({{"role": "user", "content": "Go on."}})
        return "nothing"
"""
MAIN = """\
from {loop} import Loop

if __name__ == "__main__":
    print(Loop().run(input()))
"""
LAYOUTS = {
    "side by side": {"llm.py": CLIENT, "loop.py": LOOP.format(client="llm")},
    "with a program": {
        "llm.py": CLIENT,
        "loop.py": LOOP.format(client="llm"),
        "main.py": MAIN.format(loop="loop"),
    },
    "in a package": {
        "app/__init__.py": "",
        "app/llm.py": CLIENT,
        "app/loop.py": LOOP.format(client=".llm"),
        "main.py": MAIN.format(loop="app.loop"),
    },
    "in two folders": {
        "models/llm.py": CLIENT,
        "agents/loop.py": LOOP.format(client="models.llm"),
        "main.py": MAIN.format(loop="agents.loop"),
        "pyproject.toml": "[project]\nname = 'x'\n",
    },
}


def written(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def run(*arguments: str | Path, cwd: Path) -> str:
    done = art_adapt("--isolated", *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_whichever_of_its_files_is_named(layout: str, tmp_path: Path) -> None:
    files = LAYOUTS[layout]
    written(tmp_path, files)
    before = contents(tmp_path)
    sources = [n for n in files if n.endswith(("llm.py", "loop.py"))]
    for adapted in sources:
        run(adapted, cwd=tmp_path)
        after = contents(tmp_path)
        made = sorted(after.keys() - before.keys())
        assert any(name.endswith("loop_train.py") for name in made)
        assert all(after[name] != before[name] for name in sources)
        hooks = next(name for name in made if name.endswith("art_recording.py"))
        train = next(name for name in made if name.endswith("_train.py"))
        for undone in (*sources, train, hooks, "."):
            run("--undo", undone, cwd=tmp_path)
            left = contents(tmp_path)
            assert left == before, (adapted, undone, left.keys() ^ before.keys())
            run(adapted, cwd=tmp_path)
            assert contents(tmp_path) == after
        assert "restored" in run("--undo", adapted, cwd=tmp_path)
        assert "Nothing to undo." in run("--undo", adapted, cwd=tmp_path)
        assert "Nothing to undo." in run("--undo", ".", cwd=tmp_path)


@pytest.mark.parametrize("named", ["main.py", "loop.py", "loop_train.py", "."])
def test_answers_for_another_of_its_files_go_as_well(
    named: str, tmp_path: Path
) -> None:
    """The guided start kept them for the program that was named there."""
    files = {**LAYOUTS["with a program"], "pyproject.toml": "[project]\nname = 'x'\n"}
    written(tmp_path, files)
    before = contents(tmp_path)
    run("main.py", cwd=tmp_path)
    kept = (
        '\n[tool.art-adapt.agents."main.py"] # answers to art-adapt\nreward = "ruler"\n'
    )
    with (tmp_path / "pyproject.toml").open("a") as pyproject:
        pyproject.write(kept)
    assert "restored pyproject.toml" in run("--undo", named, cwd=tmp_path)
    assert contents(tmp_path) == before


def test_what_another_agent_uses_stays(tmp_path: Path) -> None:
    """Two agents share a helper: each is undone by itself, the helper with the last."""
    other = LOOP.format(client="llm").replace("Loop", "Other")
    written(tmp_path, {**LAYOUTS["side by side"], "other.py": other})
    before = contents(tmp_path)
    run("loop.py", cwd=tmp_path)
    run("other.py", cwd=tmp_path)
    both = contents(tmp_path)
    said = run("--undo", "loop.py", cwd=tmp_path)
    assert "left llm.py: other.py still uses it" in said
    assert "left art_recording.py: " in said
    now = contents(tmp_path)
    assert now["loop.py"] == before["loop.py"] and "loop_train.py" not in now
    for name in ("llm.py", "other.py", "other_train.py", "art_recording.py"):
        assert now[name] == both[name]
    run("--undo", "other.py", cwd=tmp_path)
    assert contents(tmp_path) == before


def test_a_folder_of_agents(tmp_path: Path) -> None:
    """Also files without a completion call, which a look for agents does not find."""
    copy_of("two_files", tmp_path)
    before = contents(tmp_path)
    run("--no-train-module", ".", cwd=tmp_path)
    after = contents(tmp_path)
    changed = [name for name in before if after[name] != before[name]]
    assert len(changed) == 2 and len(after) == len(before) + 1
    said = run("--undo", ".", cwd=tmp_path)
    assert said.count("restored") == len(changed) and contents(tmp_path) == before
    run("two_files/agent.py", cwd=tmp_path)
    only = tmp_path / "two_files" / "agent.py"
    only.write_text(f"{only.read_text()}# mine\n")
    run("--undo", ".", cwd=tmp_path)
    assert only.read_bytes() == before["two_files/agent.py"] + b"# mine\n"
    only.write_bytes(before["two_files/agent.py"])
    assert contents(tmp_path) == before


def test_beside_a_hard_link(tmp_path: Path) -> None:
    agent = copy_of("support_loop", tmp_path) / "agent.py"
    before = contents(tmp_path)
    os.link(agent, agent.with_name("also.py"))
    run("agent.py", cwd=agent.parent)
    said = run("--undo", "agent.py", cwd=agent.parent)
    assert "still uses it" not in said
    agent.with_name("also.py").unlink()
    assert contents(tmp_path) == before


THEIRS = "def recorded(value):\n    return value\n\n\nfinal_answer = recorded\n"
USE = "from {prefix}art_recording import {names}\n\n{names} = ({names})\n"


@pytest.mark.parametrize("named", ["agent.py", "."])
@pytest.mark.parametrize(
    ("hooks", "user", "prefix", "names"),
    [
        ("lib/art_recording.py", "helper.py", "lib.", "recorded"),
        (
            "lib/art_recording/__init__.py",
            "helper.py",
            "lib.",
            "recorded, final_answer",
        ),
        ("inner/art_recording.py", "inner/helper.py", ".", "recorded as kept"),
    ],
)
def test_an_authors_own_import_stays(
    hooks: str, user: str, prefix: str, names: str, named: str, tmp_path: Path
) -> None:
    """A module of that name, and who imports it, may be another's."""
    agent = "agent.py"
    used = USE.format(prefix=prefix, names=names.partition(" as ")[0])
    written(tmp_path, {hooks: THEIRS, user: used, "pyproject.toml": ""})
    module = user.removesuffix(".py").replace("/", ".")
    written(tmp_path, {agent: (AGENTS / "support_loop" / "agent.py").read_text()})
    text = (tmp_path / agent).read_text()
    first = "import helper" if agent != "agent.py" else f"import {module}"
    (tmp_path / agent).write_text(
        text.replace("import json\n", f"import json\n{first}\n")
    )
    before = contents(tmp_path)
    run("--no-train-module", agent, cwd=tmp_path)
    assert contents(tmp_path)[agent] != before[agent]
    run("--undo", named, cwd=tmp_path)
    assert contents(tmp_path) == before


def test_a_module_of_that_name_is_not_hidden(tmp_path: Path) -> None:
    used = USE.format(prefix="", names="recorded")
    written(tmp_path, {"art_recording.py": THEIRS, "app/helper.py": used})
    copy_of("support_loop", tmp_path / "app")
    written(tmp_path, {"pyproject.toml": ""})
    before = contents(tmp_path)
    done = art_adapt("--isolated", "app/support_loop/agent.py", cwd=tmp_path)
    assert (
        done.returncode == 2
        and b"art_recording.py: name conflict with a file of yours" in done.stderr
    )
    assert contents(tmp_path) == before


def test_rows_and_runs_stay_and_are_named(tmp_path: Path) -> None:
    folder = copy_of("support_loop", tmp_path)
    assert art_adapt("--isolated", "agent.py", cwd=folder).returncode == 0
    (folder / "scenarios.jsonl").write_text('{"question": "Why?"}\n')
    said = art_adapt("--undo", "agent.py", cwd=folder).stdout.decode()
    assert "left scenarios.jsonl: your rows" in said
    assert (folder / "scenarios.jsonl").exists()


def test_a_diff_of_an_undo_says_what_would_be_done(tmp_path: Path) -> None:
    folder = copy_of("support_loop", tmp_path)
    assert art_adapt("--isolated", "agent.py", cwd=folder).returncode == 0
    done = art_adapt("--undo", "--diff", "agent.py", cwd=folder)
    said = done.stderr.decode()
    assert done.returncode == 1 and (folder / "agent_train.py").exists()
    assert (
        "would restore agent.py\n" in said and "would remove agent_train.py\n" in said
    )
    assert "\nrestored" not in said and "\nremoved" not in said
