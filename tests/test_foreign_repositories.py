"""Look at somebody else's repository: nothing that it says is run."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_files import AGENTS, art_adapt

AGENT = AGENTS / "support_loop" / "agent.py"
ROLLOUT = """\
import art


async def rollout(client, model: art.TrainableModel, messages):
    return await client.chat.completions.create(model=model.name, messages=messages)
"""
COMMANDS = [["check"], ["--diff"], [], ["--undo"]]


def git(*arguments: str, cwd: Path) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(
        ["git", *identity, *arguments], cwd=cwd, check=True, capture_output=True
    )


def _monitored(folder: Path, command: Path) -> Path:
    git("init", "-q", cwd=folder)
    git("config", "core.fsmonitor", str(command), cwd=folder)
    return folder


def _pretends_to_be_bare(folder: Path, command: Path) -> Path:
    git("init", "-q", cwd=folder)
    below = folder / "vendored"
    for name in ("objects", "refs"):
        (below / name).mkdir(parents=True)
        (below / name / "x").write_text("")
    (below / "HEAD").write_text("ref: refs/heads/main\n")
    (below / "config").write_text(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
        f"\tworktree = .\n\tfsmonitor = {command}\n"
    )
    for file in folder.glob("*.py"):
        shutil.copy(file, below)
    return below


def _included(folder: Path, command: Path) -> Path:
    git("init", "-q", cwd=folder)
    (folder / "more").write_text(f"[core]\n\tfsmonitor = {command}\n")
    git("config", "include.path", "../more", cwd=folder)
    return folder


def _linked(folder: Path, command: Path) -> Path:
    """A ``.git`` file that leads to a repository below the folder itself."""
    git("init", "-q", "--separate-git-dir", str(folder / "store"), cwd=folder)
    git("config", "core.fsmonitor", str(command), cwd=folder)
    return folder


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(
    "dressed", [_monitored, _pretends_to_be_bare, _included, _linked]
)
def test_a_repository_runs_no_command_of_its_own(
    dressed: Callable[[Path, Path], Path], command: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    shutil.copy(AGENT, folder)
    (folder / "rollout.py").write_text(ROLLOUT)
    ran = tmp_path / "ran"
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {ran}\n")
    evil.chmod(0o755)
    target = dressed(folder, evil)
    done = art_adapt(*command, target, cwd=tmp_path)
    assert not ran.exists(), "a command of the repository has run"
    assert done.returncode in (0, 1), done.stderr.decode()


def test_a_program_of_the_repository_is_not_taken_for_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git("init", "-q", cwd=tmp_path)
    (tmp_path / "rollout.py").write_text(ROLLOUT)
    (tmp_path / "git").write_text("#!/bin/sh\ntouch ran\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([".", "", os.environ["PATH"]]))
    assert art_adapt("check", ".", cwd=tmp_path).returncode == 1
    assert not (tmp_path / "ran").exists()


def _checked(target: Path | str, cwd: Path) -> set[str]:
    done = art_adapt("check", "--output-format", "json", target, cwd=cwd)
    assert done.returncode == 1, done.stderr.decode()
    lines = art_adapt("check", target, cwd=cwd).stdout.decode().splitlines()
    return {line.partition(":")[0] for line in lines if ": ART" in line}


@pytest.mark.parametrize("kind", ["plain", "worktree", "separate", "submodule"])
def test_what_git_ignores_is_left_out_wherever_its_folder_lies(
    kind: str, tmp_path: Path
) -> None:
    """Ignore files of each level count, and a file that is tracked all the same."""
    folder = tmp_path / "mine"
    folder.mkdir()
    store = ("--separate-git-dir", str(tmp_path / "store"))
    git("init", "-q", *(store if kind == "separate" else ()), cwd=folder)
    for name in ("a.py", "sub/b.py", "out/c.py", "sub/out/d.py", "sub/e.py", "f.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(ROLLOUT)
    (folder / ".gitignore").write_text("out/\n")
    (folder / "sub" / ".gitignore").write_text("e.py\n")
    git("add", "-A", cwd=folder)
    git("add", "-f", "out/c.py", cwd=folder)
    git("commit", "-qm", "x", cwd=folder)
    if kind == "worktree":
        git("worktree", "add", "-q", str(tmp_path / "tree"), cwd=folder)
        folder = tmp_path / "tree"
    if kind == "submodule":
        around = tmp_path / "around"
        around.mkdir()
        git("init", "-q", cwd=around)
        allowed = ("-c", "protocol.file.allow=always")
        git(*allowed, "submodule", "add", "-q", str(folder), "mine", cwd=around)
        folder = around / "mine"
    (folder / "sub" / "out").mkdir(parents=True, exist_ok=True)
    for name in ("sub/out/d.py", "sub/e.py", "f.py", "g.py"):
        (folder / name).write_text(ROLLOUT)  # not committed, or changed
    expected = {"a.py", "sub/b.py", "out/c.py", "f.py", "g.py"}
    assert _checked(".", folder) == expected
    assert _checked(folder / "sub", folder) == {"sub/b.py"}
