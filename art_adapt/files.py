"""Writes several files as one: all of them or none, and each is the old one or the new one.

Copies with the new content are made beside the files first, so a full disk is noticed while
nothing has changed. Then each takes its file's place: what is imported before what imports
it, and what is deleted last. A process that is killed leaves copies, never half a file, and
an agent that finds its imports; the next run removes the copies.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from art_adapt.errors import Refusal
from art_adapt.file_edit import FileEdit

COPY = ".art-adapt"  # how the names of copies end
COPIED = re.compile(r"\.(.+)\.[a-z0-9_]{8}\.art-adapt")
KEPT = ".art-adapt-kept"  # and that of a file with hard links, while it is overwritten


def write(
    edits: Sequence[FileEdit], still_holds: Callable[[], None] = lambda: None
) -> None:
    """Make all edits that change something, or none.

    ``still_holds`` is called when no other art-adapt can write: it refuses where what
    the edits rest on has changed meanwhile. A file reached through a link stays where the
    link points, and a file with several hard links keeps them. Deleting through a link
    removes the link only.

    Raises:
        Refusal: a file is read-only, is not as it was when it was read, or cannot be
            written. Then everything is as it was.
    """
    # Also where nothing changes: another run's plan may rest on those files.
    folders = sorted({_target(edit).parent for edit in edits})
    with _locked(folders):
        for folder in folders:
            _clean(folder)
        changing = [edit for edit in edits if edit.changes and not _is_done(edit)]
        for edit in changing:
            _check(edit)
        if changing:
            still_holds()
        _replace_all(_in_order(changing))


def check_unchanged(read: Mapping[Path, bytes | None]) -> None:
    """Refuse if a file does not hold what it held when it was read; None: it was not there.

    Raises:
        Refusal: another one does, or it is gone.
    """
    for path, data in read.items():
        try:
            now = path.read_bytes() if path.exists() else None
        except OSError as error:
            raise Refusal(
                f"cannot read this file: {error.strerror}", path=path
            ) from error
        if now != data:
            raise changed_meanwhile(path)


def changed_meanwhile(path: Path) -> Refusal:
    return Refusal(
        "changed while art-adapt was running",
        next_step="run art-adapt again",
        path=path,
    )


def _target(edit: FileEdit) -> Path:
    """Return the file that is written; a link that is deleted goes itself."""
    if edit.after is None:
        return Path(os.path.realpath(edit.path.parent), edit.path.name)
    return Path(os.path.realpath(edit.path))


def _in_order(edits: Sequence[FileEdit]) -> list[FileEdit]:
    """Sort so that a run that ends half way leaves nothing with a missing import."""
    return sorted(edits, key=lambda edit: (edit.after is None, not edit.generated))


@contextlib.contextmanager
def _locked(folders: Sequence[Path]) -> Iterator[None]:
    """Let no other art-adapt write in these folders, where the system has such locks."""
    with ExitStack() as stack:
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            for folder in folders:
                handle = os.open(folder, os.O_RDONLY)
                stack.callback(os.close, handle)
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _is_done(edit: FileEdit) -> bool:
    """Return whether another run has made the same edit meanwhile."""
    try:
        return edit.after is not None and edit.path.read_bytes() == edit.after
    except OSError:
        return False


def _check(edit: FileEdit) -> None:
    real = Path(os.path.realpath(edit.path))
    if edit.before is None:
        if real.exists():
            raise Refusal(
                "created while art-adapt was running",
                next_step="run art-adapt again",
                path=edit.path,
            )
        _check_folder(edit, real.parent)
        return
    try:
        now = real.read_bytes()
        mode = real.stat().st_mode
    except FileNotFoundError:
        raise changed_meanwhile(edit.path) from None
    except OSError as error:
        raise Refusal(
            f"cannot read this file: {error.strerror or error}", path=edit.path
        ) from error
    if now != edit.before:
        raise changed_meanwhile(edit.path)
    # Root may write everything, but a read-only file is meant to stay as it is.
    if not mode & 0o222 or not os.access(real, os.W_OK):
        raise Refusal(
            "this file is read-only",
            next_step="make it writable if you may change it",
            path=edit.path,
        )
    _check_folder(edit, _target(edit).parent)


def _check_folder(edit: FileEdit, folder: Path) -> None:
    # Root may write everywhere, but a read-only folder is meant to stay as it is.
    if not folder.stat().st_mode & 0o222 or not os.access(folder, os.W_OK):
        raise Refusal(
            "the folder of this file is read-only",
            next_step="make it writable if you may change it",
            path=edit.path,
        )


def _replace_all(edits: Sequence[FileEdit]) -> None:
    done: list[tuple[FileEdit, Path]] = []
    with ExitStack() as copies:
        edit = None
        try:
            staged = []
            for edit in edits:
                staged.append((edit, _copy(edit, edit.after or b"", copies)))
            for edit, copy in staged:
                done.append((edit, copy))
                _put(edit, copy)
        except OSError as error:
            assert edit is not None
            raise _failed(edit, error, _put_back(done, copies)) from error
        except BaseException:
            _put_back(done, copies)
            raise


def _failed(edit: FileEdit, error: OSError, changed: Sequence[str]) -> Refusal:
    state = "nothing was written"
    if changed:
        state = (
            f"these files were changed and could not be restored: {', '.join(changed)}"
        )
    return Refusal(
        f"cannot write this file: {error.strerror or error}",
        why=state,
        next_step="free disk space or allow writing there, then run art-adapt again",
        path=edit.path,
    )


def _copy(edit: FileEdit, data: bytes, copies: ExitStack) -> Path:
    """Write what an edit's file will hold beside it; ``copies`` removes what is left."""
    target = _target(edit)
    handle, name = tempfile.mkstemp(COPY, f".{target.name}.", target.parent)
    copies.callback(Path(name).unlink, missing_ok=True)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if target.exists():
        status = target.stat()
        for owner in ((-1, status.st_gid), (status.st_uid, -1)):
            with contextlib.suppress(PermissionError):
                os.chown(name, *owner)
        # Last: a new owner takes the setuid bit away. Access lists are attributes, too.
        shutil.copystat(target, name)
        os.utime(name)
    else:
        os.chmod(name, 0o600 if edit.private else 0o666 & ~_umask())
    return Path(name)


def _put(edit: FileEdit, copy: Path) -> None:
    """Give the file its new content; a deleted file takes the place of its copy."""
    target = _target(edit)
    if edit.after is None:
        os.replace(target, copy)
    elif edit.before is not None and target.stat().st_nlink > 1:
        kept = _kept(copy)
        shutil.copyfile(target, kept)
        try:
            _overwrite(target, edit.after)
        except BaseException:
            _overwrite(target, edit.before)
            kept.unlink()
            raise
        kept.unlink()
    else:
        os.replace(copy, target)


def _put_back(done: Sequence[tuple[FileEdit, Path]], copies: ExitStack) -> list[str]:
    """Take edits back, the last one first.

    Returns the files where that failed, with the copies of what they held.
    """
    failed = []
    for edit, copy in reversed(done):
        target = _target(edit)
        try:
            if edit.after is None:
                if not os.path.lexists(target):
                    os.replace(copy, target)
            elif edit.before is None:
                target.unlink(missing_ok=True)
            elif target.read_bytes() != edit.before:
                if target.stat().st_nlink > 1:
                    _overwrite(target, edit.before)
                    _kept(copy).unlink(missing_ok=True)
                else:
                    os.replace(_copy(edit, edit.before, copies), target)
        except OSError:
            kept = _kept(copy)
            where = f" (what it held is in {kept.name})" if kept.exists() else ""
            failed.append(f"{edit.path}{where}")
    return failed


def _overwrite(path: Path, data: bytes) -> None:
    """Write into the file itself, at once: between write and truncate it is Python, too."""
    left = memoryview(data.ljust(path.stat().st_size, b"\n"))
    with path.open("r+b", buffering=0) as file:
        while left:
            written = file.write(left)
            if not written:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            left = left[written:]
        file.truncate(len(data))


def _kept(copy: Path) -> Path:
    return copy.with_name(copy.name.removesuffix(COPY) + KEPT)


def _clean(folder: Path) -> None:
    """Remove the copies of a run that was killed, which holds its lock no longer.

    If that was while it overwrote a file with hard links, the file is put back.
    """
    for name in os.listdir(folder):
        found = COPIED.fullmatch(name)
        copy = folder / name
        if found is None or not copy.is_file():
            continue
        with contextlib.suppress(OSError):
            kept = _kept(copy)
            if kept.exists():
                _mend(folder / found[1], kept.read_bytes(), copy.read_bytes())
                kept.unlink()
            copy.unlink()


def _mend(target: Path, before: bytes, after: bytes) -> None:
    """Give a file its old content if it was being overwritten.

    Then it begins with the new content, and goes on with the old or with empty lines.
    """
    now = target.read_bytes()
    written = 0
    while now[written : written + 1] == after[written : written + 1] != b"":
        written += 1
    rest = now[written:]
    if now not in (before, after) and (rest == before[written:] or not rest.strip()):
        _overwrite(target, before)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
