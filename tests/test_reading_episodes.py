"""``art-adapt episodes`` shows what a run has kept, on a terminal, and obeys nothing in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_files import art_adapt


def episode(number: int, content: str = "Yes.") -> dict[str, Any]:
    call = {"function": {"name": "look_up", "arguments": '{"city": "Delft"}'}}
    messages = [
        {"role": "user", "content": f"question {number}"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": content},
        {"role": "assistant", "content": [{"type": "text", "text": "in parts"}]},
    ]
    return {
        "scenario": {"question": f"question {number}"},
        "final_answer": None,
        "reward": number / 10,
        "metrics": {"turns": 2, "failed": 0},
        "histories": [{"name": "run", "tools": None, "messages": messages}],
        "logs": ["RULER: too long"],
    }


@pytest.fixture
def run(tmp_path: Path) -> Path:
    for step, split in ((1, "train"), (20, "train"), (20, "val")):
        file = tmp_path / "episodes" / split / f"{step:04d}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        rows = [episode(number) for number in range(step % 3 + 3)]
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return tmp_path


def test_the_best_the_worst_and_some_other_of_the_last_step(run: Path) -> None:
    done = art_adapt("episodes", ".", cwd=run)
    said = done.stdout.decode()
    assert done.returncode == 0 and "0020.jsonl: 5 episodes" in said
    assert "best: reward 0.400" in said and "worst: reward 0.000" in said
    assert "other: reward" in said and 'look_up({"city": "Delft"})' in said
    assert "in parts" in said and "RULER: too long" in said and "turns 2" in said
    said = art_adapt("episodes", ".", "--step", "1", cwd=run).stdout.decode()
    assert "0001.jsonl: 4 episodes" in said
    assert (
        "val" in art_adapt("episodes", ".", "--split", "val", cwd=run).stdout.decode()
    )


def test_long_texts_are_cut_and_nothing_is_obeyed(tmp_path: Path) -> None:
    text = "\x1b]0;owned\x07[red]" + "x" * 5000 + "end"
    (tmp_path / "e.jsonl").write_text(json.dumps(episode(1, text)))
    said = art_adapt("episodes", "e.jsonl", cwd=tmp_path).stdout.decode()
    assert "\x1b" not in said and "\x07" not in said
    words = said.replace("\u2502", " ").split()
    assert "?]0;owned?[red]" in said and "characters" in words and "...]" in words


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing",), "no such file"),
        ((".",), "no episodes in this folder for the split train"),
        (("other.jsonl",), "not a file of episodes"),
        (("text.jsonl",), "not a file of episodes"),
        (("empty.jsonl",), "no episodes in this file"),
    ],
)
def test_what_cannot_be_shown(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    (tmp_path / "other.jsonl").write_text('{"question": "a"}\n')
    (tmp_path / "text.jsonl").write_text("not JSON\n")
    (tmp_path / "empty.jsonl").write_text("")
    done = art_adapt("episodes", *arguments, cwd=tmp_path)
    assert done.returncode == 2 and message in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()


def test_a_step_that_is_not_there(run: Path) -> None:
    done = art_adapt("episodes", ".", "--step", "7", cwd=run)
    assert done.returncode == 2 and "one of 1, 20" in done.stderr.decode()
