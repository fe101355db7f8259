"""The forms in which scenarios can be given: a file, a dataset's folder, a Python object."""

from __future__ import annotations

import re
from enum import StrEnum


class SourceKind(StrEnum):
    """How scenarios are read."""

    JSONL = "jsonl"
    CSV = "csv"
    ROWS = "rows"  # a list in a Python module
    DATASET = "dataset"  # a folder that ``datasets`` has saved


def source_kind(scenarios: str) -> SourceKind:
    """Tell from its name how ``scenarios`` is read.

    ``module:NAME`` is a Python object, a name without a suffix a dataset's folder;
    files that are neither ``.csv`` nor ``.tsv`` hold JSON lines.
    """
    if re.fullmatch(r"[\w.]+:\w+", scenarios):
        return SourceKind.ROWS
    _, dot, suffix = scenarios.rpartition("/")[2].rpartition(".")
    if not dot:
        return SourceKind.DATASET
    return SourceKind.CSV if suffix.lower() in ("csv", "tsv") else SourceKind.JSONL
