"""The rewards of docs/rewards.md and docs/quickstart.md work as they stand there."""

from __future__ import annotations

import asyncio
import json
import math
import re
from types import SimpleNamespace
from typing import Any

import pytest
from agent_files import REPOSITORY

from art_adapt import training
from art_adapt.training.rewards import scored


def blocks(page: str, language: str) -> list[str]:
    text = (REPOSITORY / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


TOOLS, DOCUMENTS, CLASSIFIER, GAME = blocks("rewards.md", "python")
ROWS = [json.loads(row) for row in blocks("rewards.md", "json")]
ORDER, FACTS, TEXT, SEED = ROWS
_, FIRST = blocks("quickstart.md", "python")  # after the main.py that runs the agent
(FIRST_ROW,) = map(json.loads, blocks("quickstart.md", "json"))


def reward_of(block: str, row: Any, answer: Any, metrics: dict[str, float]) -> float:
    names: dict[str, Any] = {}
    exec(block, names)
    trajectory = training.Trajectory(final_answer=answer, metrics=metrics)
    done = asyncio.run(scored(names["score"], trajectory, SimpleNamespace(**row)))
    return done.reward


@pytest.mark.parametrize(
    ("block", "row", "answer", "metrics", "reward"),
    [
        (TOOLS, ORDER, "On Friday.", {"tool_calls": 1, "tool_errors": 0}, 1.0),
        (TOOLS, ORDER, "On friday.", {"tool_calls": 0, "tool_errors": 0}, 0.8),
        (TOOLS, ORDER, None, {"tool_calls": 3, "tool_errors": 3}, 0.0),
        (DOCUMENTS, FACTS, "30 days, in original packaging (returns.md)", {}, 1.0),
        (DOCUMENTS, FACTS, "Within 30 days.", {}, 0.25),
        (DOCUMENTS, FACTS, "30 days, in original packaging (faq.md)", {}, 0.25),
        (DOCUMENTS, FACTS, None, {}, 0.0),
        (CLASSIFIER, TEXT, "Refund\n", {}, 1.0),
        (CLASSIFIER, TEXT, "other", {}, 0.0),
        (CLASSIFIER, TEXT, "It is about a refund.", {}, -0.5),
        (CLASSIFIER, TEXT, None, {}, -0.5),
        (GAME, SEED, "won", {"turns": 4}, 0.96),
        (GAME, SEED, "won", {"turns": 9}, 0.91),
        (GAME, SEED, None, {"turns": 2}, -1.02),
        (FIRST, FIRST_ROW, "It arrives on Friday.", {"tool_calls": 1}, 1.0),
        (FIRST, FIRST_ROW, "On Monday.", {"tool_calls": 0}, 0.0),
    ],
)
def test_each_reward(
    block: str, row: Any, answer: Any, metrics: Any, reward: float
) -> None:
    assert reward_of(block, row, answer, metrics) == pytest.approx(reward)


@pytest.mark.parametrize(
    ("block", "row"),
    [*zip((TOOLS, DOCUMENTS, CLASSIFIER, GAME), ROWS, strict=True), (FIRST, FIRST_ROW)],
)
def test_each_bears_an_episode_without_anything(block: str, row: Any) -> None:
    """As doctor tries it: no answer, and no metrics."""
    assert math.isfinite(reward_of(block, row, None, {}))


def test_rewards_in_the_tables_are_tried() -> None:
    """Each table of an example has the reward of a case above."""
    text = (REPOSITORY / "docs" / "rewards.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| .* \| (-?[\d.]+) \|$", text, re.MULTILINE)
    marks = test_each_reward.pytestmark  # type: ignore[attr-defined]
    tried = {case[-1] for case in marks[0].args[1]}
    assert len(shown) == 13 and {float(each) for each in shown} <= tried
