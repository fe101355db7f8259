"""Reads the conversations that a model imitates before it learns from its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import art

from art_adapt.json_lines import json_lines


def read_demonstrations(path: Path) -> list[art.Trajectory]:
    """Read conversations, one JSON object with ``messages`` and ``tools`` a line.

    Raises:
        SystemExit: a row cannot be read, or the file has none.
    """
    try:
        shown = [_conversation(place, row) for place, row in json_lines(path)]
    except OSError as error:
        raise SystemExit(
            f"--warm-start {path}: cannot read this file: {error}. "
            "`python TRAIN_MODULE demonstrate` writes it"
        ) from None
    except ValueError as error:
        raise SystemExit(str(error)) from None
    if not shown:
        raise SystemExit(f"--warm-start {path}: no conversations in this file")
    return shown


def _conversation(place: str, row: Any) -> art.Trajectory:
    try:
        return art.Trajectory(
            messages_and_choices=row["messages"], tools=row.get("tools")
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{place}: not a conversation: {error!r}") from error
