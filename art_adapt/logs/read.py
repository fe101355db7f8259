"""Reads the entries of a log, whatever its format: JSON, JSON lines or CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
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
            read = _entry(modules, row)
            if read is None:
                log.unread.append(place)
            else:
                name, entry = read
                log.entries.append(entry)
                log.formats[name] = log.formats.get(name, 0) + 1
    return log


def _entry(modules: Sequence[ModuleType], row: Any) -> tuple[str, Entry] | None:
    for module in modules:
        # A row may say anything: what is of another type than the format has is not read.
        with suppress(
            TypeError, ValueError, AttributeError, LookupError, OverflowError
        ):
            entry = module.read(row) if isinstance(row, dict) else None
            if entry is not None:
                return module.NAME, entry
    return None


def _rows(path: Path) -> Iterator[tuple[str, Any]]:
    if path.suffix.lower() == ".csv":
        csv.field_size_limit(1 << 30)  # conversations are long
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            for row in rows:
                yield f"{path}:{rows.line_num}", row
        return
    try:
        whole = json.loads(path.read_text(encoding="utf-8-sig"))
    except RecursionError:
        raise ValueError(f"{path}: its JSON is nested too deeply to be read") from None
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
    many = [key for key in MANY if isinstance(row, dict) and _has_rows(row.get(key))]
    if not many or not row.keys().isdisjoint(("input", "inputs", "messages")):
        yield place, row
    for key in many:
        yield from _spread(f"{place} {key}", row[key])


def _has_rows(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)
