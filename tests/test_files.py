"""Writing is atomic, keeps what a file is, and refuses what it cannot keep: the table of facts/codemod-tools.md 4.1."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest
from agent_files import art_adapt

from art_adapt.diff import unified
from art_adapt.errors import Refusal
from art_adapt.file_edit import FileEdit
from art_adapt.files import write

AGENT = "import openai\n\n\ndef run(client, task):\n    x = 'a'  \n    return client.chat.completions.create(messages=[task])\n"


def adapt_and_undo(path: Path) -> bytes:
    """Adapt and undo ``path``; returns what it was in between."""
    before = path.read_bytes()
    done = art_adapt("--isolated", path, cwd=path.parent)
    assert done.returncode == 0, done.stderr.decode()
    between = path.read_bytes()
    assert between != before
    assert art_adapt("--undo", path, cwd=path.parent).returncode == 0
    assert path.read_bytes() == before
    return between


@pytest.mark.parametrize(
    ("feature", "data"),
    [
        ("CRLF", AGENT.replace("\n", "\r\n").encode()),
        ("mixed newlines", AGENT.replace("\n", "\r\n", 3).encode()),
        ("BOM", AGENT.encode("utf-8-sig")),
        ("latin-1 cookie", b"# -*- coding: latin-1 -*-\n# \xe9\n" + AGENT.encode()),
        ("utf-8 cookie", "# -*- coding: utf-8 -*-\n# é\n".encode() + AGENT.encode()),
        ("no newline at the end", AGENT.rstrip("\n").encode()),
        ("form feed", AGENT.replace("\n\n\n", "\n\n\x0c\n").encode()),
        ("tabs", AGENT.replace("    ", "\t").encode()),
        ("trailing spaces", AGENT.replace(":\n", ":   \n").encode()),
    ],
)
def test_every_byte_is_kept(tmp_path: Path, feature: str, data: bytes) -> None:
    path = tmp_path / "agent.py"
    path.write_bytes(data)
    between = adapt_and_undo(path)
    kept = [line for line in data.splitlines(keepends=True) if b"return" not in line]
    for line in kept:
        assert line in between.splitlines(keepends=True), feature
    newlines = {line[-2:] == b"\r\n" for line in between.splitlines(keepends=True)[:-1]}
    if feature in ("CRLF", "tabs"):
        assert newlines == {feature == "CRLF"}


def test_mode_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "agent.py"
    path.write_text(AGENT)
    path.chmod(0o751)
    art_adapt("--isolated", path, cwd=tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert "recorded(" in path.read_text()


def test_links_are_kept(tmp_path: Path) -> None:
    real, link, hard = (
        tmp_path / "real" / "agent.py",
        tmp_path / "agent.py",
        tmp_path / "real" / "hard.py",
    )
    real.parent.mkdir()
    real.write_text(AGENT)
    link.symlink_to(real)
    hard.hardlink_to(real)
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert link.is_symlink() and "recorded(" in real.read_text()
    assert hard.stat().st_ino == real.stat().st_ino
    assert (
        tmp_path / "art_recording.py"
    ).exists()  # beside the name that the user gave
    art_adapt("--undo", "agent.py", cwd=tmp_path)
    assert real.read_text() == AGENT and link.is_symlink()


@pytest.mark.parametrize(
    ("mode", "said"), [(0o444, b"read-only"), (0o000, b"cannot read this file")]
)
def test_protected_files_are_left_alone(tmp_path: Path, mode: int, said: bytes) -> None:
    path = tmp_path / "agent.py"
    path.write_text(AGENT)
    path.chmod(mode)
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 2 and said in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["agent.py"]
    path.chmod(0o644)
    assert path.read_text() == AGENT


def test_a_file_that_changes_meanwhile_is_left_alone(tmp_path: Path) -> None:
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    first.write_bytes(b"1")
    second.write_bytes(b"2, but changed")
    with pytest.raises(Refusal, match="changed while art-adapt was running"):
        write([FileEdit(first, b"1", b"new"), FileEdit(second, b"2", b"new")])
    assert first.read_bytes() == b"1"  # all or nothing


def test_a_failed_write_leaves_the_old_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "agent.py"
    path.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Refusal, match="cannot write this file: No space") as refused:
        write([FileEdit(path, b"old", b"new")])
    assert "nothing was written" in str(refused.value)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_deleted_file_is_gone(tmp_path: Path) -> None:
    path, other = tmp_path / "generated.py", tmp_path / "agent.py"
    path.write_bytes(b"generated")
    other.write_bytes(b"old")
    edit = FileEdit(path, b"generated", None)
    assert edit.changes and not FileEdit(path, None, None).changes
    write([FileEdit(other, b"old", b"new"), edit])
    assert list(tmp_path.iterdir()) == [other] and other.read_bytes() == b"new"


@pytest.mark.parametrize(
    ("now", "mode", "said"),
    [
        (b"somebody's", 0o644, "changed while art-adapt was running"),
        (b"generated", 0o444, "read-only"),
        (None, 0o644, "changed while art-adapt was running"),
    ],
)
def test_a_file_that_cannot_be_deleted_stops_everything(
    tmp_path: Path, now: bytes | None, mode: int, said: str
) -> None:
    path, other = tmp_path / "generated.py", tmp_path / "agent.py"
    other.write_bytes(b"old")
    if now is not None:
        path.write_bytes(now)
        path.chmod(mode)
    with pytest.raises(Refusal, match=said):
        write([FileEdit(other, b"old", b"new"), FileEdit(path, b"generated", None)])
    assert other.read_bytes() == b"old"
    assert path.exists() == (now is not None)


def test_deleting_a_link_leaves_what_it_points_to(tmp_path: Path) -> None:
    real, link = tmp_path / "real.py", tmp_path / "link.py"
    real.write_bytes(b"generated")
    link.symlink_to(real)
    write([FileEdit(link, b"generated", None)])
    assert list(tmp_path.iterdir()) == [real]


@pytest.mark.parametrize(
    "data",
    [b"one\ntwo\n", b"one\ntwo", b"", "# \xe9\r\nx\r\n".encode("latin-1")],
    ids=["text", "no newline at the end", "empty", "latin-1 and CRLF"],
)
def test_git_applies_the_patch_of_a_deletion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    path = tmp_path / "généré.py"
    path.write_bytes(data)
    monkeypatch.chdir(tmp_path)
    patch = unified(FileEdit(path, data, None))
    subprocess.run(["git", "apply"], input=patch, check=True)
    assert not path.exists()
    subprocess.run(["git", "apply", "--reverse"], input=patch, check=True)
    assert path.read_bytes() == data


def test_a_file_laid_out_for_shorter_lines(tmp_path: Path) -> None:
    """Fits in 88 but was broken at 79, whether the project says so or not."""
    path = tmp_path / "agent.py"
    path.write_text(
        "def run(self, request_arguments):\n"
        "    if self.ready:\n"
        "        if self.willing:\n"
        "            response_of_model = self.client.chat.completions.create(\n"
        "                **request_arguments\n"
        "            )\n"
        "    return response_of_model\n"
    )
    before = path.read_bytes()
    assert art_adapt("--isolated", path, cwd=tmp_path).returncode == 0
    assert b"recorded(\n                self.client" in path.read_bytes()
    assert art_adapt("--isolated", "--undo", path, cwd=tmp_path).returncode == 0
    assert path.read_bytes() == before
    (tmp_path / "pyproject.toml").write_text("[tool.black]\nline-length = 79\n")
    assert art_adapt(path, cwd=tmp_path).returncode == 0
    assert b"recorded(self.client" in path.read_bytes()
    assert art_adapt("--undo", path, cwd=tmp_path).returncode == 0
    assert path.read_bytes() == before
