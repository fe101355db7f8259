"""A rehearsal runs a few rows, and checks all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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


WRONG = {
    "is no JSON": ('{"question": "Sun', "this line is not JSON: "),
    "lacks its key": ('{"query": "Sunday?"}', "question: Field required"),
    "is a list": ('["Sunday?"]', "and this is a list"),
}


@pytest.mark.parametrize("row", WRONG)
def test_a_row_that_is_none_is_told_at_its_line(tmp_path: Path, row: str) -> None:
    wrong, said = WRONG[row]
    folder = folder_with(tmp_path, f"{ROW % 1}\n{wrong}\n")
    stopped = stopped_in(folder)
    assert stopped["path"].endswith("scenarios.jsonl") and stopped["line"] == 3
    assert said in stopped["what"] and "jsonl" not in stopped["what"], stopped
    assert stopped["fix"].startswith("correct this row"), stopped


def test_a_constant_that_ends_a_run_is_told_at_its_line(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, ROW % 1)
    module = folder / "agent_train.py"
    text = module.read_text().replace(
        "ROLLOUTS_PER_GROUP = 4", "ROLLOUTS_PER_GROUP = 1"
    )
    module.write_text(text)
    stopped = stopped_in(folder)
    line = text[: text.index("ROLLOUTS_PER_GROUP = 1")].count("\n") + 1
    assert stopped["path"].endswith("agent_train.py") and stopped["line"] == line
    assert stopped["fix"].startswith("correct this constant"), stopped


def stopped_in(folder: Path) -> dict[str, Any]:
    done = art_adapt("rehearse", "--json", "agent_train.py", cwd=folder)
    (stopped,) = json.loads(done.stdout)["findings"]
    assert stopped["name"] == "stopped"
    return dict(stopped)
