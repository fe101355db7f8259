"""Reads the histories of an episode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import art

from art_adapt.recording.messages import message_of


def histories_of(trajectory: art.Trajectory) -> list[Any]:
    """Return the histories of an episode, the trajectory itself first."""
    return [trajectory, *trajectory.additional_histories]


def named_histories(trajectory: art.Trajectory) -> Iterator[tuple[str, Any]]:
    """Yield each history with the function that asked first in it, as far as known."""
    histories = histories_of(trajectory)
    names = str(trajectory.metadata.get("histories", "")).split(", ")
    for at, history in enumerate(histories):
        known = at < len(names) and names[at]
        yield names[at] if known else f"conversation {at + 1}", history


def choices_of(history: Any) -> list[Any]:
    """Return the completions of a history."""
    return [i for i in history.messages_and_choices if not isinstance(i, dict)]


def messages_of(history: Any) -> list[dict[str, Any]]:
    """Return a history as plain messages."""
    return [
        item if isinstance(item, dict) else message_of(item)
        for item in history.messages_and_choices
    ]
