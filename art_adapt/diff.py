"""Makes unified diffs that ``git apply`` takes, whatever the bytes of the files."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from art_adapt.file_edit import FileEdit
from art_adapt.folders import checkout_around
from art_adapt.printable import quoted


def unified(edit: FileEdit) -> bytes:
    """Show the edit as a diff; empty if nothing changes.

    Names are those that ``git apply`` reads in the working folder: from the top of its
    checkout, as ``git diff`` writes them. Elsewhere they start at the working folder.
    """
    if not edit.changes:
        return b""
    name = _shown(edit.path)
    old, new = quoted(f"a/{name}"), quoted(f"b/{name}")
    header = f"diff --git {old} {new}\n"
    if edit.before is None:
        old, header = "/dev/null", header + "new file mode 100644\n"
    if edit.after is None:
        new, header = "/dev/null", header + "deleted file mode 100644\n"
    before, after = _lines(edit.before or b""), _lines(edit.after or b"")
    hunks = difflib.unified_diff(before, after, old, new, n=3)
    body: list[bytes] = []
    for line in hunks:
        data = (
            line.encode("latin-1")
            if not line.startswith(("--- ", "+++ ")) or body[2:]
            else line.encode()
        )
        body.append(
            data if data.endswith(b"\n") else data + b"\n\\ No newline at end of file\n"
        )
    return header.encode() + b"".join(body)


def _lines(data: bytes) -> list[str]:
    """Split where git splits; latin-1 keeps every byte, whatever the encoding."""
    return [line.decode("latin-1") + "\n" for line in data.split(b"\n")[:-1]] + (
        [data.split(b"\n")[-1].decode("latin-1")]
        if not data.endswith(b"\n") and data
        else []
    )


def _shown(path: Path) -> str:
    here, file = (
        Path(os.path.realpath(".")),
        Path(os.path.realpath(path.parent)) / path.name,
    )
    top = checkout_around(here)
    within = top is not None and file.is_relative_to(top)
    return Path(os.path.relpath(file, top if within else here)).as_posix()
