"""Coding assistants are told how to use art-adapt, in words that hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from agent_files import art_adapt, copy_of

from art_adapt.commands import COMMANDS


@pytest.mark.parametrize(
    ("assistant", "file"),
    [
        ("claude", ".claude/skills/art-adapt/SKILL.md"),
        ("cursor", ".cursor/rules/art-adapt.mdc"),
    ],
)
def test_it_is_written_where_the_assistant_looks(
    assistant: str, file: str, tmp_path: Path
) -> None:
    for _ in range(2):  # an upgrade writes it anew
        done = art_adapt("skill", "--install", assistant, cwd=tmp_path)
        assert done.returncode == 0
    text = (tmp_path / file).read_text()
    assert text.startswith("---\nname: art-adapt\n")
    assert text == art_adapt("skill", cwd=tmp_path).stdout.decode()


def test_of_a_file_of_the_projects_only_a_part_is_written(tmp_path: Path) -> None:
    file = tmp_path / "AGENTS.md"
    file.write_text("# Ours\n\nBe brief.\n")
    for _ in range(2):
        assert art_adapt("skill", "--install", "codex", cwd=tmp_path).returncode == 0
        text = file.read_text()
        assert text.startswith(
            "# Ours\n\nBe brief.\n\n<!-- art-adapt: begin -->\n# art-"
        )
        assert text.count("# art-adapt\n") == 1 and "name: art-adapt" not in text
    file.write_text(text + "\nOurs again.\n")
    art_adapt("skill", "--install", "codex", cwd=tmp_path)
    assert file.read_text().endswith("end -->\n\nOurs again.\n")


def test_what_cannot_be_done_is_one_message(tmp_path: Path) -> None:
    done = art_adapt("skill", "--install", "clippy", cwd=tmp_path)
    assert done.returncode == 2 and b"claude, codex, cursor" in done.stderr
    (tmp_path / ".cursor").write_text("a file")
    done = art_adapt("skill", "--install", "cursor", cwd=tmp_path)
    assert done.returncode == 2 and b"run art-adapt skill to print it" in done.stderr


def test_what_it_says_exists(tmp_path: Path) -> None:
    text = art_adapt("skill", cwd=tmp_path).stdout.decode()
    commands = set(re.findall(r"`art-adapt ([a-z]+)\b", text)) - {"agent"}
    assert commands <= set(COMMANDS) and len(commands) > 6
    folder = copy_of("support_loop", tmp_path)
    for said, keys in (
        (
            art_adapt("--isolated", "--diff", "--json", "agent.py", cwd=folder),
            ("entry_points", "policy", "auxiliary", "exits", "decisions"),
        ),
    ):
        for key in keys:
            assert f"`{key}`" in text and f'"{key}"'.encode() in said.stdout
    helped = "".join(
        art_adapt(*command, "--help", cwd=folder).stdout.decode()
        for command in ((), *([name] for name in sorted(commands)))
    )
    for flag in set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)):
        assert flag in helped, flag
