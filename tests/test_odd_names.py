"""A file's name is output, whatever it holds: it forges no line and breaks no patch."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from agent_files import AGENTS, art_adapt

AGENT = (AGENTS / "support_loop" / "agent.py").read_bytes()
ROLLOUT = """\
import art


async def rollout(client, model: art.TrainableModel, messages):
    return await client.chat.completions.create(
        model=model.name, messages=messages, temperature=0
    )
"""
FORGED = (
    "::error",
    "##[",
    "+++",
    "---",
    "diff ",
    "@@",
    "# forged",
    "* forged",
    "ART999",
)
NAMES = {
    "a line end": "a\n::error ::forged\n.py",
    "a patch": "x\n--- forged\n+++ forged\n.py",
    "a carriage return": "x\r::error ::forged\r.py",
    "Markdown": "x\n\n# forged\n* forged\n.py",
    "a command": "::error ::forged.py",
    "a separator": "x\u2028::error ::forged\u2028.py",
    "a tab": "tab\tname.py",
    "quotes": 'a "quoted" name.py',
    "a backslash": "back\\slash.py",
    "an escape": "red\x1b[31m.py",
    "spaces": "two words.py",
    "another script": "агент.py",
}


def forged(said: bytes, known: tuple[str, ...] = ()) -> list[str]:
    lines = said.decode(errors="replace").splitlines()
    return [
        line
        for line in lines
        if line.startswith(tuple(f for f in FORGED if f not in known))
    ] + [line for line in lines if "\x1b[31m" in line]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_forges_nothing(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / NAMES[name]).write_text(ROLLOUT)
    for form in ("text", "concise", "github"):
        done = art_adapt("check", "--output-format", form, ".", cwd=folder)
        assert done.returncode == 1, done.stderr
        found = forged(done.stdout + done.stderr)
        assert [line for line in found if " title=ART" not in line] == []
    (folder / NAMES[name]).write_text("import (\n")
    done = art_adapt("--diff", NAMES[name], cwd=folder)
    assert done.returncode == 2 and forged(done.stdout + done.stderr) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_patch_applies(name: str, tmp_path: Path) -> None:
    (tmp_path / NAMES[name]).write_bytes(AGENT)
    options = ("--isolated", "--no-train-module")
    done = art_adapt(*options, "--diff", NAMES[name], cwd=tmp_path)
    assert done.returncode == 1, done.stderr.decode()
    assert forged(done.stderr) == []
    headers = [line for line in done.stdout.splitlines() if line.startswith(b"diff ")]
    assert len(headers) == 2
    for form in ("markdown", "html"):
        shown = art_adapt(
            *options, "--diff", "--format", form, NAMES[name], cwd=tmp_path
        )
        assert not [
            line
            for line in forged(shown.stdout, ("---", "+++", "@@"))
            if "forged" in line
        ]
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "apply"], input=done.stdout, cwd=tmp_path, check=True)
    patched = (tmp_path / NAMES[name]).read_bytes()
    (tmp_path / NAMES[name]).write_bytes(AGENT)
    (tmp_path / "art_recording.py").unlink()
    done = art_adapt(*options, NAMES[name], cwd=tmp_path)
    assert done.returncode == 0 and forged(done.stdout + done.stderr) == []
    assert (tmp_path / NAMES[name]).read_bytes() == patched
    done = art_adapt("--undo", NAMES[name], cwd=tmp_path)
    assert done.returncode == 0 and forged(done.stdout + done.stderr) == []
    assert (tmp_path / NAMES[name]).read_bytes() == AGENT
