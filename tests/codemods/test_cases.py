"""Every codemod does what its own cases say, comes off again, and leaves what
formatters would leave.
"""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import black
import libcst as cst
import pytest
from libcst.codemod import CodemodCommand, CodemodContext, SkipFile

from art_adapt import codemods
from art_adapt.adaptation import remove
from art_adapt.codemods.case import Case
from art_adapt.source import Source

COMMANDS = [
    (module, command, case)
    for module in [
        importlib.import_module(f"art_adapt.codemods.{info.name}")
        for info in pkgutil.iter_modules(codemods.__path__)
    ]
    for command in vars(module).values()
    if isinstance(command, type)
    and issubclass(command, CodemodCommand)
    and command.__module__ == module.__name__
    and hasattr(module, "CASES")
    for case in module.CASES
]
HOOKING = [
    (command, case)
    for module, command, case in COMMANDS
    if module.__name__ != "art_adapt.codemods.remove_hooks"
]


def name(value: object) -> str | None:
    return (
        value.name.replace(" ", "-")
        if isinstance(value, Case)
        else getattr(value, "__name__", None)
    )


def transformed(command: type[CodemodCommand], text: str, folder: Path) -> str:
    path = folder / "agent.py"
    path.write_text(text, encoding="utf-8")
    try:
        return (
            command(CodemodContext(filename=str(path)))
            .transform_module(cst.parse_module(text))
            .code
        )
    except SkipFile:
        return text


@pytest.mark.parametrize(("module", "command", "case"), COMMANDS, ids=name)
def test_case(
    module: object, command: type[CodemodCommand], case: Case, tmp_path: Path
) -> None:
    assert transformed(command, case.source, tmp_path) == case.expected


@pytest.mark.parametrize(("command", "case"), HOOKING, ids=name)
def test_a_second_time_changes_nothing(
    command: type[CodemodCommand], case: Case, tmp_path: Path
) -> None:
    assert transformed(command, case.expected, tmp_path) == case.expected


@pytest.mark.parametrize(("command", "case"), HOOKING, ids=name)
def test_comes_off(command: type[CodemodCommand], case: Case) -> None:
    assert (
        remove(Source(Path("agent.py"), case.expected.encode()), 88).decode()
        == case.source
    )


@pytest.mark.parametrize(("command", "case"), HOOKING, ids=name)
def test_formatters_leave_it(command: type[CodemodCommand], case: Case) -> None:
    for text in (case.source, case.expected):
        assert black.format_str(text, mode=black.Mode()) == text
        formatted = subprocess.run(
            [sys.executable, "-m", "ruff", "format", "--isolated", "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        )
        assert formatted.stdout == text


def test_runs_in_libcsts_own_tool(tmp_path: Path) -> None:
    path = tmp_path / "agent.py"
    path.write_text(
        "def run(client):\n    return client.chat.completions.create(messages=[])\n"
    )
    command = [
        sys.executable,
        "-m",
        "libcst.tool",
        "codemod",
        "--no-format",
        "-x",
        "art_adapt.codemods.record_calls.RecordCalls",
        str(path),
    ]
    subprocess.run(
        command, check=True, capture_output=True, cwd=Path(codemods.__file__).parents[1]
    )
    assert "recorded(client.chat.completions.create)(messages=[])" in path.read_text()
