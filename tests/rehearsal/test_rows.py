"""A rehearsal runs a few rows, and checks all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import art_adapt, copy_of

REWARD = "def score(trajectory, scenario):\n    return float(scenario.expected in str(trajectory.final_answer))\n"
ROW = '{"question": "What is open on day %d?", "expected": "a"}\n'


def folder_with(tmp_path: Path, rows: str) -> Path:
    folder = copy_of("support_loop", tmp_path)
    (folder / "rewards.py").write_text(REWARD)
    options = ("--isolated", "--yes", "--reward", "rewards:score", "agent.py")
    assert art_adapt(*options, cwd=folder).returncode == 0
    (folder / "scenarios.jsonl").write_text(rows)
    return folder


def test_a_key_that_a_row_lacks_is_told_at_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    rows = "".join(ROW % day for day in range(30)) + '{"question": "And on Sunday?"}\n'
    folder = folder_with(tmp_path, rows)
    done = art_adapt("rehearse", "--steps", "1", "--json", "agent_train.py", cwd=folder)
    found = json.loads(done.stdout)["findings"]
    (told,) = [each for each in found if each["name"] == "rows"]
    assert told["line"] == 31 and told["path"].endswith("scenarios.jsonl"), told
    assert "have no expected, which score (rewards.py:2) reads" in told["what"], told
    doctor = art_adapt("doctor", cwd=folder).stdout.decode()
    said = " ".join(doctor.split())
    assert "1 of 31 rows have no expected, which score (rewards.py:2) reads" in said


def test_rows_that_say_the_same_are_told(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, ROW % 1 * 3 + ROW % 2 * 3)
    said = art_adapt("rehearse", "--steps", "1", cwd=folder).stdout  # the only module
    assert b"4 of 6 rows say the same as an earlier one" in said, said.decode()


def test_an_answer_that_is_the_task_is_told(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "".join(ROW % day for day in range(4)))
    agent = folder / "agent.py"
    text = agent.read_text()
    start = text.index("final_answer(", text.index("def "))
    end = text.index("\n", start)
    agent.write_text(f"{text[:start]}final_answer(question){text[end:]}")
    done = art_adapt("rehearse", "--json", "agent_train.py", cwd=folder)
    found = json.loads(done.stdout)["findings"]
    assert any("is scenario.question" in each["what"] for each in found), found
