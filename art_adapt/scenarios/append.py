"""Appends rows to a file of scenarios."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from art_adapt.file_edit import FileEdit
from art_adapt.files import write


def append_rows(
    path: Path,
    rows: Sequence[dict[str, Any]],
    instead_of: Sequence[dict[str, Any]] = (),
) -> None:
    """Write ``rows`` as JSON lines behind those of ``path``, which is made if need be.

    Lines that are one of the rows ``instead_of`` which they come go.
    """
    if not rows:
        return
    before = path.read_bytes() if path.exists() else None
    lines = (before or b"").splitlines(keepends=True)
    start = b"".join(each for each in lines if not _is_one_of(each, instead_of))
    if start and not start.endswith(b"\n"):
        start += b"\n"
    text = b"".join(_line(row) for row in rows)
    # Rows hold what people asked in production.
    write([FileEdit(path.absolute(), before, start + text, private=True)])


def _is_one_of(line: bytes, rows: Sequence[dict[str, Any]]) -> bool:
    try:
        return bool(rows) and json.loads(line) in rows
    except ValueError:
        return False


def _line(row: dict[str, Any]) -> bytes:
    try:
        return f"{json.dumps(row, ensure_ascii=False)}\n".encode()
    except UnicodeEncodeError:  # half of an emoji, where a log has cut a text
        return f"{json.dumps(row)}\n".encode()
