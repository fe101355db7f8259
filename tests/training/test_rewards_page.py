"""The rewards of docs/rewards.md work as they stand there."""

from __future__ import annotations

import asyncio
import re
from types import SimpleNamespace
from typing import Any

import pytest
from agent_files import REPOSITORY

from art_adapt import training
from art_adapt.training.rewards import scored

PAGE = (REPOSITORY / "docs" / "rewards.md").read_text(encoding="utf-8")
TOOLS, DOCUMENTS, CLASSIFIER, GAME = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
ORDER = {"expected": "Friday"}
FACTS = {"facts": ["30 days", "original packaging"], "source": "returns.md"}


@pytest.mark.parametrize(
    ("block", "row", "answer", "metrics", "reward"),
    [
        (TOOLS, ORDER, "On friday.", {"tool_calls": 1, "tool_errors": 0}, 1.0),
        (TOOLS, ORDER, "On Friday.", {"tool_calls": 0, "tool_errors": 0}, 0.8),
        (TOOLS, ORDER, None, {"tool_calls": 3, "tool_errors": 3}, 0.0),
        (DOCUMENTS, FACTS, "30 days, in original packaging (returns.md)", {}, 1.0),
        (DOCUMENTS, FACTS, "Within 30 days.", {}, 0.25),
        (DOCUMENTS, FACTS, None, {}, 0.0),
        (CLASSIFIER, {"label": "refund"}, "Refund\n", {}, 1.0),
        (CLASSIFIER, {"label": "refund"}, "other", {}, 0.0),
        (CLASSIFIER, {"label": "refund"}, None, {}, -0.5),
        (GAME, {"seed": 7}, "won", {"turns": 4}, 0.96),
        (GAME, {"seed": 7}, None, {"turns": 2}, -1.02),
    ],
)
def test_each_reward(
    block: str, row: Any, answer: Any, metrics: Any, reward: float
) -> None:
    names: dict[str, Any] = {}
    exec(block, names)
    trajectory = training.Trajectory(final_answer=answer, metrics=metrics)
    done = asyncio.run(scored(names["score"], trajectory, SimpleNamespace(**row)))
    assert done.reward == pytest.approx(reward)
