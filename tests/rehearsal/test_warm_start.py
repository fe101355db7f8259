"""Test a warm start: what production does well is kept, and raises the first reward."""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from scripted_engine import Engine
from test_learning import TOOL_LOOP, prepared

from art_adapt.code.syntax import Syntax
from art_adapt.rehearsal.child_process import run_child
from art_adapt.rehearsal.replies import read_rows
from art_adapt.rehearsal.run import training_settings
from art_adapt.rehearsal.scripted_model import ScriptedModel
from art_adapt.rehearsal.seen import Seen
from art_adapt.source import read_source

DAYS = {"HO-1042": "Friday", "HO-1043": "Monday", "HO-1044": "Saturday"}
LOOKS_UP = [
    {
        "when": {"messages": f"{order}[^}}]*}}\\]$"},  # the last message: the question
        "tool_calls": [{"name": "look_up_order", "arguments": {"order_id": order}}],
    }
    for order in DAYS
]
ANSWERS = [
    {"when": {"messages": day}, "content": f"It arrives on {day}."}
    for day in DAYS.values()
]
pytestmark = pytest.mark.slow


def run(folder: Path, *arguments: str, production: Engine) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={
            **os.environ,
            "OPENAI_BASE_URL": production.base_url,
            "OPENAI_API_KEY": "sk-test",
        },
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_what_production_does_well_is_kept(tmp_path: Path) -> None:
    """It is wrong about one order: those episodes show nothing worth imitating."""
    folder, module = prepared(tmp_path, TOOL_LOOP)
    wrong = {"when": {"messages": "Saturday"}, "content": "It arrives some day."}
    with Engine([wrong, *ANSWERS, *LOOKS_UP]) as production:
        said = run(folder, module, "demonstrate", production=production)
    assert (
        "8 scenarios x 2 rollouts on production: 16 episodes" in said
    )  # one is held out
    assert "12 of 16 episodes" in said and "12 conversations" in said
    assert "--warm-start agent-001-demonstrations.jsonl" in said
    rows = _rows(folder)
    assert [message["role"] for message in rows[0]["messages"]] == [
        *("system", "user", "assistant", "tool", "assistant")
    ]
    assert rows[0]["tools"] and {row["reward"] for row in rows} == {1.0}
    assert not any("HO-1044" in str(row["messages"]) for row in rows)


def _rows(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "agent-001-demonstrations.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no torch")
def test_it_raises_the_reward_of_the_first_step(tmp_path: Path) -> None:
    """ART's own fine-tuning of the tiny model, then training and resuming as ever."""
    folder, module = prepared(tmp_path, TOOL_LOOP)
    with Engine([*ANSWERS, *LOOKS_UP]) as production:
        run(folder, module, "demonstrate", production=production)

    file = folder / module
    with ScriptedModel(0, ()) as scripted:
        notes = run_child(file, scripted.url, 1, folder).notes
        seen = Seen(file, Syntax.of(read_source(file)), notes, tuple(scripted.log))
        rows = read_rows(TOOL_LOOP[3])
        settings = training_settings(seen, rows, 0)

        def first_reward(name: str) -> float:
            storage = folder / name
            storage.mkdir()
            done = run_child(file, scripted.url, 1, storage, settings)
            assert done.notes.training is not None, done.output
            (step,) = done.notes.training.rewards
            return statistics.fmean(reward for group in step for reward in group)

        cold = first_reward("cold")
        shown = 'WARM_START = "agent-001-demonstrations.jsonl"\n'
        file.write_text(file.read_text().replace("EPOCHS", f"{shown}EPOCHS", 1))
        warm = first_reward("warm")
    assert cold < 0.6 and warm > cold + 0.3, (cold, warm)


def test_a_file_without_conversations_is_refused(tmp_path: Path) -> None:
    from art_adapt.training.demonstrations import read_demonstrations

    empty, broken = tmp_path / "empty.jsonl", tmp_path / "broken.jsonl"
    empty.write_text("\n")
    cut = tmp_path / "cut.jsonl"
    cut.write_text('{"messages": []}\n{"messages":\n')
    broken.write_text('{"messages": []}\n{"text": "hello"}\n')
    for file, complaint in (
        (empty, "no conversations in this file"),
        (broken, "broken.jsonl:2: not a conversation"),
        (cut, "cut.jsonl:2: Expecting value"),
        (tmp_path / "missing.jsonl", "demonstrate` writes it"),
    ):
        with pytest.raises(SystemExit, match=complaint):
            read_demonstrations(file)


def test_a_line_separator_in_a_message_ends_no_conversation(tmp_path: Path) -> None:
    from art_adapt.training.demonstrations import read_demonstrations

    file = tmp_path / "shown.jsonl"
    said = {"role": "assistant", "content": "one\u2028two\x85three"}
    row = json.dumps({"messages": [said]}, ensure_ascii=False)
    file.write_text(f"{row}\n", encoding="utf-8")
    (conversation,) = read_demonstrations(file)
    assert conversation.messages_and_choices == [said]
