"""A light stand-in for ``art.Trajectory``, whose import takes seconds: what the recorder
uses of it. Other tests use the real one.
"""

from __future__ import annotations

from typing import Any

import pydantic
from scripted_engine import Engine

from art_adapt import recording as art_recording


class History(pydantic.BaseModel):
    messages_and_choices: list[Any] = []
    tools: list[Any] | None = None


class Trajectory(pydantic.BaseModel):
    messages_and_choices: list[Any] = []
    tools: list[Any] | None = None
    additional_histories: list[History] = []
    reward: float = 0.0
    metadata: dict[str, Any] = {}
    exchanges: list[Any] = []  # ART 0.5.23's: it trains from token ids


def histories(trajectory: Trajectory) -> list[dict[str, Any]]:
    """Its histories, as ``recorded.differences`` reads them."""
    return [
        {
            "tools": h.tools,
            "items": [
                i if isinstance(i, dict) else {"choice": i.model_dump(mode="json")}
                for i in h.messages_and_choices
            ],
        }
        for h in (trajectory, *trajectory.additional_histories)
    ]


def choices(trajectory: Trajectory) -> list[Any]:
    """The choices of all its histories."""
    return [
        i
        for h in (trajectory, *trajectory.additional_histories)
        for i in h.messages_and_choices
        if not isinstance(i, dict)
    ]


def rollout(trajectory: Trajectory, engine: Engine, **options: Any) -> Any:
    return art_recording.rollout(
        trajectory,
        base_url=engine.base_url,
        api_key="sk-rollout",
        model="policy",
        **options,
    )
