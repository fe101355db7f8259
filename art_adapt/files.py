"""Writes files atomically: a reader sees the old file or the new one, never a mix."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from art_adapt.adaptation import Edit
from art_adapt.errors import Refusal


def write(edits: Sequence[Edit]) -> None:
    """Write every edit that changes something, once all of them are known to be writable.

    Symbolic links keep pointing to the same file, and hard links stay linked.

    Raises:
        Refusal: a file is read-only, or has changed since it was read. Nothing is written then.
    """
    changing = [edit for edit in edits if edit.changes]
    for edit in changing:
        _check(edit)
    for edit in changing:
        _replace(Path(os.path.realpath(edit.path)), edit.after)


def _check(edit: Edit) -> None:
    real = Path(os.path.realpath(edit.path))
    if edit.before is None:
        if real.exists():
            raise Refusal(
                "was created while art-adapt ran",
                next_step="run art-adapt again",
                path=edit.path,
            )
        if not os.access(real.parent, os.W_OK):
            raise Refusal("its folder is not writable", path=edit.path)
        return
    try:
        now = real.read_bytes()
        mode = real.stat().st_mode
    except OSError as error:
        raise Refusal(
            f"cannot be read: {error.strerror or error}", path=edit.path
        ) from error
    if now != edit.before:
        raise Refusal(
            "changed while art-adapt ran",
            next_step="run art-adapt again",
            path=edit.path,
        )
    # Root can write everything, but a file without write permission is left alone.
    if not mode & 0o222 or not os.access(real, os.W_OK):
        raise Refusal(
            "read-only",
            next_step="make it writable, then run art-adapt again",
            path=edit.path,
        )


def _replace(path: Path, data: bytes) -> None:
    """Write a new file and rename it; write in place to keep hard links."""
    status = path.stat() if path.exists() else None
    if status is not None and status.st_nlink > 1:
        with path.open("r+b") as file:
            file.write(data)
            file.truncate()
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if status is not None:
            shutil.copymode(path, name)
            with contextlib.suppress(PermissionError):
                os.chown(name, status.st_uid, status.st_gid)
        else:
            os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
