"""What fixtures become, to the byte, and whether it is code that people would keep."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import black
import pytest
from agent_files import (
    AGENTS,
    NAMES,
    adapted_copy_of,
    agent_file,
    art_adapt,
    copy_of,
    files_of,
)

from end_to_end.expected import adapted_files

UNFORMATTED = {"cli_printer", "alias_heavy"}
TOOL = [sys.executable, "-m", "ruff"]


@pytest.mark.parametrize("name", NAMES)
def test_adapted_files_are_as_expected(name: str, tmp_path: Path) -> None:
    """``python tests/end_to_end/expected.py`` writes them anew after a wanted change."""
    expected = {
        path.relative_to(AGENTS / name / "adapted").as_posix(): path.read_bytes()
        for path in sorted((AGENTS / name / "adapted").rglob("*.py"))
    }
    assert adapted_files(name, tmp_path) == expected


@pytest.mark.parametrize("name", NAMES)
def test_undo_gives_every_file_back(name: str, tmp_path: Path) -> None:
    folder = adapted_copy_of(name, tmp_path)
    before = files_of(copy_of(name, tmp_path / "before"))
    assert set(files_of(folder)) > set(before)
    agent = agent_file(folder).relative_to(folder)
    assert art_adapt("--undo", agent, cwd=folder).returncode == 0
    assert files_of(folder) == before


@pytest.mark.parametrize("name", NAMES)
def test_a_second_run_changes_nothing(name: str, tmp_path: Path) -> None:
    folder = adapted_copy_of(name, tmp_path)
    agent = agent_file(folder).relative_to(folder)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.py")}
    again = art_adapt("--isolated", agent, cwd=folder)
    assert b"Nothing to change" in again.stdout
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.py")} == before
    assert art_adapt("--isolated", "--diff", agent, cwd=folder).stdout == b""


@pytest.mark.parametrize("name", sorted(set(NAMES) - UNFORMATTED))
def test_formatters_and_linters_leave_everything_as_it_is(
    name: str, tmp_path: Path
) -> None:
    folder = adapted_copy_of(name, tmp_path)
    for path in folder.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert black.format_str(text, mode=black.Mode()) == text, path.name
    for command in (["format", "--diff"], ["check"], ["check", "--select", "I"]):
        done = subprocess.run(
            [*TOOL, *command, "--isolated", "--no-cache", "."],
            cwd=folder,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout.decode()


@pytest.mark.slow
@pytest.mark.types
@pytest.mark.parametrize(
    "name", ["support_loop", "package_agent", "class_agent", "best_of"]
)
def test_train_modules_type_check(name: str, tmp_path: Path, mypy_cache: str) -> None:
    folder = adapted_copy_of(name, tmp_path)
    agent = agent_file(folder)
    module = agent.with_name("agent_train.py").relative_to(folder)
    name_options = ["-p", "triage"] if module.parent != Path() else [str(module)]
    options = [
        mypy_cache,
        "--python-executable",
        sys.executable,
        "--follow-imports=silent",
        "--ignore-missing-imports",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *name_options],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    errors = [
        line
        for line in done.stdout.decode().splitlines()
        if "_train.py" in line or "art_recording.py" in line
    ]
    assert not errors
