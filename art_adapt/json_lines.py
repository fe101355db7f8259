"""Reads files of JSON objects, one a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class LineError(ValueError):
    """Says what is wrong with a line of a file; ``place``: its ``FILE:LINE``."""

    def __init__(self, place: str, what: str) -> None:
        super().__init__(f"{place}: {what}")
        self.place = place


def json_lines(path: Path | str) -> Iterator[tuple[str, Any]]:
    """Read the values of a file, each with its ``FILE:LINE``.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not UTF-8, or a line is no JSON; a LineError with its place.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: {error}") from error
    # Not splitlines: strings of JSON may hold what else ends a line.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            place = f"{path}:{number}"
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                what = f"this line is not JSON: {error}"
                raise LineError(place, what) from error
            yield place, value
