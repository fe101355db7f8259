"""Reports the plan as one JSON object, with paths relative to the working folder."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from art_adapt.decisions import as_data
from art_adapt.plan import Plan
from art_adapt.seen.decision import Seen
from art_adapt.survey.candidates.weights import WEIGHTS
from art_adapt.survey.model import EntryPoint


def print_json(plan: Plan, *, written: bool) -> None:
    """Print the plan as JSON; ``written``: whether the changes are on disk."""
    print(json.dumps(as_json(plan, written), indent=2))


def as_json(plan: Plan, written: bool) -> dict[str, Any]:
    """Describe what was found, decided and changed.

    ``written``: whether the changes are on disk.
    """
    return {
        "files": [
            {
                "path": _plain(file.source.path),
                "given": file.given,
                "calls": _plain(file.calls),
                "threads": _plain(file.threads),
                "effects": _plain(file.effects),
                "obstacles": _plain(file.obstacles),
                "tool_execution": _plain(file.tool_execution),
            }
            for file in plan.survey.files
        ],
        "policy": [str(_plain(call.place)["at"]) for call in plan.decisions.policy],
        "auxiliary": [
            str(_plain(call.place)["at"]) for call in plan.decisions.auxiliary
        ],
        "entry_points": _plain(plan.survey.entry_points),
        "exits": _plain(plan.decisions.exits),
        "rewards": _plain(plan.decisions.rewards),
        "decisions": as_data(plan.decisions),
        "seen": None if plan.seen is None else _seen(plan.seen),
        "changes": [
            {
                "path": _plain(edit.path),
                "new": edit.before is None,
                "deleted": edit.after is None,
            }
            for edit in plan.edits
            if edit.changes
        ],
        "kept": None if plan.kept is None else _plain(plan.kept.path),
        "written": written,
    }


def _seen(seen: Seen) -> dict[str, Any]:
    """Return what runs have shown: how many there were, the episode, and what reading had found."""
    function = seen.function
    return {
        "runs": len(seen.runs),
        "episode": None if function is None else function.key[1],
        "given": [] if function is None else list(function.given),
        "by_reading": None if seen.read is None else seen.read.called,
    }


def candidates_as_json(entries: Sequence[EntryPoint]) -> str:
    """Return candidates as JSON, each with the features that hold and what they count."""
    return json.dumps(
        [
            {
                "name": entry.called,
                "place": _plain(entry.place),
                "score": entry.score,
                "features": {name: WEIGHTS[name] for name in entry.features},
            }
            for entry in entries
        ],
        indent=2,
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return os.path.relpath(value)
    if isinstance(value, Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {
            f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)
        }
        if set(fields) == {"path", "line", "column"}:
            fields["at"] = f"{fields['path']}:{fields['line']}"
        return fields
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list | frozenset):
        return [_plain(item) for item in value]
    return value
