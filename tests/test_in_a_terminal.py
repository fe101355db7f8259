"""What is shown and asked in a terminal: colours, widths, streams that are piped or closed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from agent_files import ONE_CALL, art_adapt, copy_of, files_of, in_terminal


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    path = tmp_path / "agent.py"
    path.write_text(ONE_CALL)
    return path


def test_colours_only_where_they_are_wanted(agent: Path) -> None:
    command = [sys.executable, "-m", "art_adapt", "--isolated", "--diff", "agent.py"]
    for variables, coloured in (
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ):
        done = subprocess.run(
            command,
            cwd=agent.parent,
            capture_output=True,
            env={**os.environ, **variables},
            check=False,
        )
        assert (b"\x1b" in done.stderr) is coloured
        assert b"\x1b" not in done.stdout  # a patch is never coloured


def test_a_terminal_shows_what_changes_and_the_next_command(tmp_path: Path) -> None:
    agent = copy_of("support_loop", tmp_path) / "agent.py"
    command = f"{sys.executable} -m art_adapt --diff {agent.name}"
    status, said = in_terminal(command, agent.parent, [])
    assert status == 1
    assert "recorded(client.chat.completions.create)" in said
    assert "new file agent_train.py" in said and "async def train(" not in said
    assert "Next: write it, with art-adapt agent.py" in said
    piped = art_adapt("--diff", agent.name, cwd=agent.parent)
    assert b"async def train(" in piped.stdout and b"Next:" not in piped.stdout


@pytest.mark.wide
def test_a_long_reading_is_shown_in_a_terminal_and_gone_at_the_end(
    agent: Path, tmp_path: Path
) -> None:
    parts = [f"part_{number}" for number in range(40)]
    body = "".join(
        f"def f{n}(x):\n    y = {{'a': x, 'b': [x]}}\n    return y['a'].run(f0(y['b']))\n\n"
        for n in range(120)
    )
    for part in parts:
        (agent.parent / f"{part}.py").write_text(body)
    imports = "".join(f"import {part}\n" for part in parts)
    agent.write_text(imports + agent.read_text())
    command = f"{sys.executable} -m art_adapt --diff {agent.name} > patch"
    status, said = in_terminal(command, agent.parent, [])
    assert status == 1
    assert re.search(r"\r\x1b\[K4\d files read, \d s", said)
    last = said[said.rindex("files read") :]
    assert "\r\x1b[K" in last  # erased before what is shown


@pytest.mark.parametrize("agrees", [True, False])
def test_in_a_terminal_it_asks(agent: Path, agrees: bool) -> None:
    one = ONE_CALL.replace("def run", "def run_one")
    two = ONE_CALL[ONE_CALL.index("\n\ndef") :].replace("def run", "def run_two")
    agent.write_text(one + two)
    before = files_of(agent.parent)
    answers = [
        ("settle them?", "b"),  # take what is recommended
        ("Answer: ", "7"),
        ("Answer", "b"),
        ("[Y/n]: ", "yn"[not agrees]),
    ]
    command = f"{sys.executable} -m art_adapt --isolated agent.py"
    code, said = in_terminal(command, agent.parent, answers)
    assert code == 0
    assert "  b  run_two  agent.py:12" in said and "+    from art_recording" in said
    assert "new file agent_train.py" in said
    assert (files_of(agent.parent) == before) is not agrees
    if agrees:
        module = agent.with_name("agent_train.py").read_text()
        assert "from agent import run_two\n" in module


@pytest.mark.parametrize("agrees", [True, False])
def test_undo_asks_as_well(agent: Path, agrees: bool) -> None:
    assert art_adapt("--isolated", "agent.py", cwd=agent.parent).returncode == 0
    command = f"{sys.executable} -m art_adapt --undo agent.py > log 2>&1"
    _, said = in_terminal(command, agent.parent, [("[Y/n]:", "yn"[not agrees])])
    assert ("recorded(" in agent.read_text()) is not agrees, said


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_closed_stream_is_no_error(agent: Path, closed: str) -> None:
    command = f"{sys.executable} -m art_adapt --isolated --yes agent.py {closed}"
    code, _ = in_terminal(command, agent.parent, [])
    assert code == 0 and "recorded(" in agent.read_text()


@pytest.mark.parametrize(
    ("piped", "agrees"),
    [
        ("| cat > said", True),
        ("> said", False),
        ("< /dev/null", True),
        ("2> /dev/null", True),
        ("< /dev/null > said", False),
    ],
)
def test_whatever_is_piped_somebody_at_a_terminal_is_asked(
    agent: Path, piped: str, agrees: bool
) -> None:
    before = agent.read_bytes()
    command = f"{sys.executable} -m art_adapt --isolated agent.py {piped}"
    answers = [("settle them?", "b"), ("[Y/n]:", "yn"[not agrees])]
    _, said = in_terminal(command, agent.parent, answers)
    assert (agent.read_bytes() == before) is not agrees, said
    if not agrees:
        command = command.replace("agent.py", "--yes agent.py")
        in_terminal(command, agent.parent, [])
        assert agent.read_bytes() != before


@pytest.mark.wide
def test_names_in_any_encoding_are_printed(agent: Path, tmp_path: Path) -> None:
    folder = tmp_path / "\u65e5\u672c"
    folder.mkdir()
    agent.rename(folder / "agent.py")
    command = [sys.executable, "-m", "art_adapt", "--isolated"]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    for option in ("--diff", "--yes", "--undo"):
        done = subprocess.run(
            [*command, option, folder / "agent.py"],
            cwd=tmp_path,
            env=ascii_only,
            capture_output=True,
        )
        assert done.returncode in (0, 1), done.stderr.decode()


@pytest.mark.parametrize("columns", [60, 120])
@pytest.mark.parametrize("options", ["--diff", "--diff --entry nothing"])
def test_lines_are_broken_at_words(agent: Path, columns: int, options: str) -> None:
    command = f"{sys.executable} -m art_adapt --isolated {options} agent.py"
    for colours in ("", "NO_COLOR=1 "):
        line = f"stty cols {columns}; {colours}{command} > said"
        _, said = in_terminal(line, agent.parent, [])
        plain = re.sub(r"\x1b\[[0-9;]*[mK]", "", said).replace("\r\n", "\n")
        assert plain.strip()
        for shown in plain.splitlines():
            assert len(shown) <= columns or len(shown.split()) == 1, shown
        piped = art_adapt("--isolated", *options.split(), "agent.py", cwd=agent.parent)
        assert plain.split() == piped.stderr.decode().split()


def test_a_pipe_that_closes_early_is_no_crash(agent: Path) -> None:
    command = f"{sys.executable} -m art_adapt --isolated --diff agent.py | head -c 10"
    done = subprocess.run(
        ["bash", "-c", command], cwd=agent.parent, capture_output=True, check=False
    )
    assert b"Traceback" not in done.stderr
