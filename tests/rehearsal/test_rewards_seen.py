"""A rehearsal tells what of a reward no episode earned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import art_adapt, copy_of

NEVER = """\
def same(a, b):
    return a.lower() == b


class Grade:
    def of(self, a, b):
        return float({a} == {b})


def score(trajectory, scenario):
    answer = str(trajectory.final_answer)
    words = len(answer.split())
    if words == 0 or not answer.endswith("!"):
        words += 1
    words += answer == scenario.expected
    words += 1 if scenario.expected in answer else 0
    if not answer != scenario.expected:
        return 2 * words
    words += answer.startswith(scenario.expected)
    if same(answer, scenario.expected):
        words += 1
    return words / 10 + Grade().of(answer, scenario.expected)
"""
TOLD = (
    "a.lower() == b (rewards.py:2)",
    "{a} == {b} (rewards.py:7)",
    "answer == scenario.expected (rewards.py:15)",
    "scenario.expected in answer (rewards.py:16)",
    "answer != scenario.expected (rewards.py:17)",
    "answer.startswith(scenario.expected) (rewards.py:19)",
)
PARTS = """def score(trajectory, scenario):
    words = len(str(trajectory.final_answer))
    return {"right": 0, "short": 1, "words": 100 * words}
"""
RIGHT = """\
def score(trajectory, scenario):
    answer = str(trajectory.final_answer)
    if answer is None or answer == "nothing":
        return 0.0
    return len(answer) / 100 + (type(answer) == type(scenario.question))
"""


@pytest.fixture(scope="module")
def adapted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = copy_of("support_loop", tmp_path_factory.mktemp("rewards"))
    (folder / "rewards.py").write_text(RIGHT)
    options = ("--isolated", "--yes", "--reward", "rewards:score", "agent.py")
    assert art_adapt(*options, cwd=folder).returncode == 0
    rows = ({"question": f"Day {day}?", "expected": "Zuse"} for day in range(4))
    (folder / "scenarios.jsonl").write_text("".join(f"{json.dumps(r)}\n" for r in rows))
    return folder


def seen_of(folder: Path, reward: str) -> list[str]:
    (folder / "rewards.py").write_text(reward)
    done = art_adapt("rehearse", "--steps", "1", "agent_train.py", cwd=folder)
    lines = done.stdout.decode().splitlines()
    assert any(line.startswith("Rehearsed") for line in lines), done.stderr.decode()
    return [line for line in lines if line.startswith("  seen") and "reward" in line]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")


def test_a_comparison_that_never_holds_is_told(adapted: Path) -> None:
    (told,) = seen_of(adapted, NEVER)
    listed = told.partition("held in no episode: ")[2].partition(". If a right")[0]
    assert set(listed.split(", ")) == set(TOLD)  # no guard, no literal


def test_a_reward_whose_comparisons_hold_is_not_told(adapted: Path) -> None:
    assert seen_of(adapted, RIGHT) == []


def test_a_part_that_is_always_the_same_and_a_large_reward_are_told(
    adapted: Path,
) -> None:
    large, same = seen_of(adapted, PARTS)
    assert "rewards range from " in large and "dominates its group" in large
    assert "the same in all 8 episodes: right (0), short (1). If a right" in same, same


def test_a_reward_of_chance_is_told(adapted: Path) -> None:
    chance = "import random\n\n\ndef score(trajectory, scenario):\n    return random.random()\n"
    (told,) = seen_of(adapted, chance)
    assert "run twice, with the same answer, got the rewards 0." in told, told


def test_a_folder_names_its_train_module(adapted: Path) -> None:
    done = art_adapt("rehearse", "--steps", "1", str(adapted), cwd=adapted.parent)
    assert b"Rehearsed support_loop/agent_train.py" in done.stdout, done.stderr
