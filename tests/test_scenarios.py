"""``art-adapt scenarios``: rows that do not fit, doubles, what leaks into validation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_files import art_adapt, copy_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = copy_of("support_loop", tmp_path)
    assert art_adapt("--isolated", "agent.py", cwd=folder).returncode == 0
    return folder


def write(path: Path, rows: list[Any]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def looked(folder: Path, *arguments: str) -> tuple[int, str]:
    done = art_adapt("scenarios", *arguments, cwd=folder)
    return done.returncode, (done.stdout + done.stderr).decode()


def test_the_modules_own_scenarios(folder: Path) -> None:
    code, said = looked(folder)
    assert code == 0, said
    assert "to train on" in said and "question" in said


def test_rows_that_do_not_fit_and_doubles(folder: Path) -> None:
    rows = [
        {"question": "one"},
        {"question": "two", "expected": 2},
        {"queston": "three"},
        {"question": 4},
        {"question": "one", "expected": 5},
        [1],
    ]
    write(folder / "rows.jsonl", rows)
    code, said = looked(folder, "rows.jsonl")
    assert code == 1
    assert "question: Field required (the row has queston)" in " ".join(said.split())
    assert "rows.jsonl:4  question: Input should be a valid string" in said
    assert "rows.jsonl:6" in said
    assert "rows.jsonl:1, rows.jsonl:5" in said and "expected (2 rows)" in said
    report = json.loads(looked(folder, "rows.jsonl", "--json")[1])
    assert report["rows"] == 6 and len(report["wrong"]) == 3
    assert report["lengths"]["question"] == {"shortest": 3, "median": 3, "longest": 3}


@pytest.mark.parametrize(
    ("reads", "is_missing"),
    [
        ("scenario.expected in str(trajectory.final_answer)", True),
        ("len(row.expected)", True),
        ("getattr(scenario, 'expected', '') == 'Friday'", False),
        ("len(scenario.model_dump())", False),
        ("scenario.question == 'one'", False),
    ],
)
def test_a_key_that_the_reward_reads(
    folder: Path, reads: str, is_missing: bool
) -> None:
    name = "row" if "row." in reads else "scenario"
    score = f"def score(trajectory, {name}):\n    return float({reads})\n"
    (folder / "rewards.py").write_text(score)
    adapted = art_adapt(
        "--isolated", "--reward", "rewards:score", "agent.py", cwd=folder
    )
    assert adapted.returncode == 0, adapted.stderr.decode()
    rows = [{"question": "one", "expected": "Friday"}, {"question": "two"}]
    write(folder / "rows.jsonl", rows)
    code, said = looked(folder, "rows.jsonl")
    assert code == int(is_missing), said
    missing = "rows.jsonl:2  expected is missing, which score (rewards.py:2) reads"
    assert (missing in said) is is_missing


def test_a_key_that_the_agent_takes_and_is_not_given(folder: Path) -> None:
    write(folder / "rows.jsonl", [{"question": "one", "max_turns": 3, "id": 7}])
    code, said = looked(folder, "rows.jsonl")
    assert code == 0 and "max_turns (1 row), id (1 row)" in said
    assert "takes max_turns, too  to pass it, add max_turns to Scenario" in said
    module = folder / "agent_train.py"
    text, call = module.read_text(), "question=scenario.question"
    assert text.count(call) == 1
    for given, is_passed in (("3", False), ("scenario.max_turns", True)):
        module.write_text(text.replace(call, f"{call}, max_turns={given}"))
        said = looked(folder, "rows.jsonl")[1]
        assert ("not passed" not in said) is is_passed


def test_validation_that_training_has_seen(folder: Path) -> None:
    write(folder / "rows.jsonl", [{"question": str(n)} for n in range(40)])
    code, said = looked(folder, "rows.jsonl")
    assert code == 0 and "32 to train on, 8 held out" in said
    write(folder / "held.jsonl", [{"question": "7"}, {"question": "new"}])
    code, said = looked(folder, "rows.jsonl", "--validation", "held.jsonl")
    assert code == 1 and "leaked      held.jsonl:1" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"question": "a"}\n{broken\n', "rows.jsonl:2"),
        ("\xff\xfe", "rows.jsonl"),
        ("", "0 rows"),
    ],
)
def test_what_cannot_be_read(folder: Path, text: str, said: str) -> None:
    (folder / "rows.jsonl").write_bytes(text.encode("latin-1"))
    code, output = looked(folder, "rows.jsonl")
    assert code == 1 and said in output and "Traceback" not in output


def test_csv(folder: Path) -> None:
    (folder / "rows.csv").write_text("question,expected\nWho?,me\nWhere?,\n")
    code, said = looked(folder, "rows.csv")
    assert code == 0 and "rows.csv:2" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.jsonl"], "nowhere.jsonl is missing"),
        (["--module", "agent.py"], "it has no class Scenario"),
        (["agent:ROWS"], "cannot check agent:ROWS without importing it"),
    ],
)
def test_refusals(folder: Path, arguments: list[str], said: str) -> None:
    code, output = looked(folder, *arguments)
    assert (code == 2 and said in output and "next:" in output) or "write one" in output


def test_which_module(folder: Path) -> None:
    (folder / "other_train.py").write_bytes((folder / "agent_train.py").read_bytes())
    code, said = looked(folder)
    assert code == 2 and "agent_train.py, other_train.py" in said
    assert looked(folder, "--module", "other_train.py")[0] == 0
    (folder / "other_train.py").unlink()
    (folder / "docs").mkdir()
    assert looked(folder / "docs")[1].startswith(
        "art-adapt: no train module in this folder"
    )
    inner = folder / "package"
    inner.mkdir()
    for file in ("agent_train.py", "scenarios.jsonl"):
        (folder / file).rename(inner / file)
    assert looked(folder)[0] == 0  # the only one below


def test_the_agent_does_not_run(folder: Path) -> None:
    agent = folder / "agent.py"
    agent.write_text("raise SystemExit('it ran')\n" + agent.read_text())
    assert looked(folder)[0] == 0


def test_a_scenario_that_somebody_has_edited(folder: Path) -> None:
    module = folder / "agent_train.py"
    text = module.read_text()
    edited = "    question: Annotated[str, Field(min_length=2)]\n    level: Literal[1, 2] = 1\n"
    text = text.replace("    question: str\n", edited)
    imports = "from typing import Annotated, Literal\nfrom pydantic import Field\n"
    module.write_text(text.replace("import art\n", f"{imports}import art\n"))
    write(folder / "rows.jsonl", [{"question": "x"}, {"question": "xy", "level": 3}])
    code, said = looked(folder, "rows.jsonl")
    assert code == 1
    assert "at least 2 characters" in said and "level: Input should be 1 or 2" in said
