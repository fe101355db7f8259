"""Appends rows to a file of scenarios."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from art_adapt.file_edit import FileEdit
from art_adapt.files import write


def append_rows(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write ``rows`` as JSON lines behind those of ``path``, which is made if need be."""
    if not rows:
        return
    before = path.read_bytes() if path.exists() else None
    start = before or b""
    if start and not start.endswith(b"\n"):
        start += b"\n"
    text = b"".join(_line(row) for row in rows)
    # Rows hold what people asked in production.
    write([FileEdit(path.absolute(), before, start + text, private=True)])


def _line(row: dict[str, Any]) -> bytes:
    try:
        return f"{json.dumps(row, ensure_ascii=False)}\n".encode()
    except UnicodeEncodeError:  # half of an emoji, where a log has cut a text
        return f"{json.dumps(row)}\n".encode()
