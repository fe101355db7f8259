"""Writes files atomically: a reader sees the old file or the new one, never a mix."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from art_adapt.errors import Refusal
from art_adapt.file_edit import FileEdit


def write(edits: Sequence[FileEdit]) -> None:
    """Make all edits that change something, once it is certain that all can be made.

    A file reached through a link stays where the link points, and a file with several
    hard links keeps them. Deleting through a link removes the link only.

    Raises:
        Refusal: a file is read-only, or is not as it was when it was read. Then nothing is written.
    """
    changing = [edit for edit in edits if edit.changes]
    for edit in changing:
        _check(edit)
    for edit in changing:
        if edit.after is None:
            edit.path.unlink()
        else:
            _replace(Path(os.path.realpath(edit.path)), edit.after)


def _check(edit: FileEdit) -> None:
    real = Path(os.path.realpath(edit.path))
    if edit.before is None:
        if real.exists():
            raise Refusal(
                "appeared while art-adapt ran",
                next_step="run art-adapt again",
                path=edit.path,
            )
        _check_folder(edit, real.parent)
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
    # Root may write everything, but a read-only file is meant to stay as it is.
    if not mode & 0o222 or not os.access(real, os.W_OK):
        raise Refusal(
            "read-only",
            next_step="make it writable, if it is yours to change",
            path=edit.path,
        )
    if edit.after is None:
        _check_folder(edit, edit.path.parent)


def _check_folder(edit: FileEdit, folder: Path) -> None:
    if not os.access(folder, os.W_OK):
        raise Refusal("its folder cannot be written", path=edit.path)


def _replace(path: Path, data: bytes) -> None:
    """Write beside the file and rename; write in place if it has other hard links."""
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
