"""Check all rows of the scenarios, of which a rehearsal runs a few."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from operator import contains
from pathlib import Path
from typing import Any

from art_adapt.capture.rows import CAPTURED
from art_adapt.json_lines import json_lines
from art_adapt.rehearsal.seen import Finding, Seen, Witness
from art_adapt.scenarios.declared import constant
from art_adapt.scenarios.reward_keys import lacking_keys
from art_adapt.scenarios.source_kind import SourceKind, source_kind


def reward_keys(seen: Seen) -> Iterator[Finding]:
    """Report rows without a key that the reward reads: their episodes get no reward."""
    if seen.notes.reward_raised is not None:
        return
    for each in lacking_keys(seen.path, _rows(seen), contains):
        file, line = _first_without(each.key, seen) or (seen.path, 1)
        yield Finding("rows", each.what, each.fix, file, line)


def witnesses(seen: Seen) -> Iterator[Witness]:
    """Yield rows that say the same as others: a step of them trains on one task."""
    rows = [
        {name: value for name, value in row.items() if name != CAPTURED}
        for row in _rows(seen)
    ]
    texts = Counter(json.dumps(each, sort_keys=True) for each in rows)
    again = sum(count - 1 for count in texts.values())
    if again:
        yield Witness(
            "each row is another task",
            False,
            f"{again} of {len(rows)} rows say the same as an earlier one; art-adapt scenarios names "
            "them",
        )


def _rows(seen: Seen) -> list[dict[str, Any]]:
    return [row for row in seen.notes.scenarios if isinstance(row, dict)]


def _first_without(key: str, seen: Seen) -> tuple[Path, int] | None:
    """Return the place of the first row without a key; None of another source than JSON lines."""
    said: Any = constant(seen.path, "SCENARIOS")
    if not isinstance(said, str) or source_kind(said) is not SourceKind.JSONL:
        return None
    file = seen.path.parent / said
    with suppress(OSError, ValueError):
        for place, row in json_lines(file):
            if isinstance(row, dict) and key not in row:
                return file, int(place.rpartition(":")[2])
    return None
