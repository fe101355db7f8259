"""Reads the entries of a log, whatever its format: JSON, JSON lines or CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from art_adapt.json_lines import json_lines
from art_adapt.logs import formats
from art_adapt.logs.entry import Entry

# Keys of objects that hold many rows: pages of an API, a trace with its observations.
MANY = ("data", "observations", "runs", "examples", "items")


@dataclass
class Log:
    """The entries of files, and what was passed over.

    Attributes:
        formats: how many rows were read as each, by name.
        unread: places of rows of no known format.
    """

    entries: list[Entry] = field(default_factory=list)
    formats: dict[str, int] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)


def read_log(paths: list[Path]) -> Log:
    """Read the entries of ``paths``.

    Raises:
        OSError: a file cannot be read.
        ValueError: it is neither JSON nor CSV; with its place.
    """
    names = sorted(found.name for found in iter_modules(formats.__path__))
    modules = [import_module(f"{formats.__name__}.{name}") for name in names]
    log = Log()
    for path in paths:
        for place, row in _rows(path):
            for module in modules:
                entry = module.read(row) if isinstance(row, dict) else None
                if entry is not None:
                    log.entries.append(entry)
                    log.formats[module.NAME] = log.formats.get(module.NAME, 0) + 1
                    break
            else:
                log.unread.append(place)
    return log


def _rows(path: Path) -> Iterator[tuple[str, Any]]:
    if path.suffix.lower() == ".csv":
        csv.field_size_limit(1 << 30)  # conversations are long
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            for row in rows:
                yield f"{path}:{rows.line_num}", row
        return
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        yield from (
            (p, r) for place, row in json_lines(path) for p, r in _spread(place, row)
        )
    else:
        yield from _spread(str(path), whole)


def _spread(place: str, row: Any) -> Iterator[tuple[str, Any]]:
    """Yield the rows of a page or a trace, and a row itself."""
    if isinstance(row, list):
        for number, each in enumerate(row):
            yield from _spread(f"{place}[{number}]", each)
        return
    many = [
        key for key in MANY if isinstance(row, dict) and isinstance(row.get(key), list)
    ]
    if not many or "input" in row or "inputs" in row:
        yield place, row
    for key in many:
        yield from _spread(f"{place} {key}", row[key])
