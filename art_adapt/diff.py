"""Makes unified diffs that ``git apply`` takes, whatever the bytes of the files."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from art_adapt.adaptation import Edit


def unified(edit: Edit) -> bytes:
    """Show the edit as a diff against the working folder; empty if it changes nothing."""
    if not edit.changes:
        return b""
    name = _shown(edit.path)
    before, after = _lines(edit.before or b""), _lines(edit.after)
    old, new = ("/dev/null" if edit.before is None else f"a/{name}"), f"b/{name}"
    header = f"diff --git a/{name} b/{name}\n" + (
        "new file mode 100644\n" if edit.before is None else ""
    )
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
    """Split where git does.

    latin-1 keeps every byte, whatever the encoding.
    """
    return [line.decode("latin-1") + "\n" for line in data.split(b"\n")[:-1]] + (
        [data.split(b"\n")[-1].decode("latin-1")]
        if not data.endswith(b"\n") and data
        else []
    )


def _shown(path: Path) -> str:
    return Path(os.path.relpath(path)).as_posix()


def deleted(path: Path, data: bytes) -> bytes:
    """Show a diff that deletes a file."""
    name = _shown(path)
    hunks = difflib.unified_diff(_lines(data), [], f"a/{name}", "/dev/null")
    header = f"diff --git a/{name} b/{name}\ndeleted file mode 100644\n".encode()
    return header + b"".join(line.encode("latin-1") for line in hunks)
