"""Keep files outside of a project as they are: what an agent would change there gets a copy.

A rehearsal works on a copy of the project's folder. A path like ``~/notes.db`` leads out of
it: Python's own functions then open a copy of that file, in a folder that is thrown away. A file
that the agent makes there is removed at the end. Nothing that was there is moved or removed.
What a compiled library or another process opens itself is not seen.

It needs the standard library only: an agent that is watched loads it, too.
"""

from __future__ import annotations

import builtins
import contextlib
import errno
import functools
import io
import json
import os
import shutil
import sqlite3
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NOTED = ".noted"
LARGEST = 1_000_000_000  # bytes of a file that is copied
WRITES = set("wax+")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
SCRATCH = ("/tmp", "/var/tmp", tempfile.gettempdir())  # where programs hand files over
SYSTEM = ("/dev", "/proc", "/sys")
STANDARD = sysconfig.get_paths()["stdlib"]
REFUSED = "a rehearsal moves or removes nothing outside of the project"
made_here: set[str] = set()  # what this process, or another one of the run, has made
CHANGED, MADE, REMOVED = "changed", "made", "removed"


@dataclass(frozen=True)
class Outside:
    """A file outside of the project that an agent changed (in a copy), made or would have removed.

    ``at``: the line that did, as ``path:line``.
    """

    path: str
    at: str
    what: str


@dataclass(frozen=True)
class Overlay:
    """Copies of files outside of ``inside``, the folders that may be written, below ``shadow``.

    ``project``: the folder of the user's, which may be copied into one of these.
    """

    inside: tuple[str, ...]
    shadow: str
    project: str

    def to_open(self, path: Any, *, writes: bool) -> Any:
        """Return the path to open in the place of one: of its copy, if it has or needs one."""
        real = self.outside(path)
        if real is None:
            return path
        copy = self.shadow + real
        if os.path.exists(copy):
            return copy
        if not writes or _is_a_librarys(real, self.inside):
            return path
        if not os.path.exists(real):
            self.note(real, MADE)
            return path
        if self.is_made(real) or os.path.isdir(real) or os.path.getsize(real) > LARGEST:
            return path
        self.note(real, CHANGED)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        _copy(real, copy)
        return copy

    def outside(self, path: Any) -> str | None:
        """Return where a path leads, if that is nobody's but the user's."""
        if not isinstance(path, str | bytes | os.PathLike):
            return None  # a file that is open
        real = os.path.realpath(os.fsdecode(path))
        # A project in the folder for temporary files has its data there.
        is_there = any(self.project.startswith(f"{each}/") for each in SCRATCH)
        scratch = () if is_there else SCRATCH
        allowed = (*self.inside, *SYSTEM, *scratch, sys.prefix, sys.base_prefix)
        return None if _is_in(real, allowed) else real

    def refuse_to_remove(self, path: Any) -> None:
        """Keep what was outside before.

        Raises:
            PermissionError: ``path`` is such a file or folder.
        """
        real = self.outside(path)
        if real is None or os.path.islink(path) or not os.path.exists(real):
            return
        if not (self.is_made(real) or _is_a_librarys(real, self.inside)):
            self.note(real, REMOVED)
            raise PermissionError(errno.EACCES, REFUSED, real)

    def is_made(self, real: str) -> bool:
        """True if a process of this run has made a file, or a folder around it."""
        if real not in made_here and os.path.exists(f"{self.shadow}/{NOTED}"):
            noted = _noted(Path(self.shadow))
            made_here.update(each.path for each in noted if each.what == MADE)
        return _is_in(real, made_here)

    def note(self, real: str, what: str) -> None:
        frame, at = sys._getframe(2), ""
        while frame is not None and not at:  # the project's own line
            if frame.f_code.co_filename.startswith(self.inside):
                at = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            frame = frame.f_back  # type: ignore[assignment]
        made_here.update([real] if what == MADE else [])
        line = json.dumps({"path": real, "at": at, "what": what})
        os.makedirs(self.shadow, exist_ok=True)
        noted = os.open(
            f"{self.shadow}/{NOTED}", os.O_WRONLY | os.O_APPEND | os.O_CREAT
        )
        os.write(noted, f"{line}\n".encode())
        os.close(noted)


def keep_as_it_is(overlay: Overlay) -> None:
    """Let this process change nothing that was outside of a project."""
    opening = functools.partial(_opening, overlay)
    builtins.open = io.open = opening(io.open)
    sqlite3.connect = sqlite3.dbapi2.connect = _connecting(overlay, sqlite3.connect)
    os.open = _opening_by_flags(overlay, os.open)
    os.truncate = _writing(overlay, os.truncate)
    os.mkdir = _making(overlay, os.mkdir)
    for name in ("rename", "replace"):
        setattr(os, name, _moving(overlay, getattr(os, name)))
    for module, name in (
        (os, "remove"),
        (os, "unlink"),
        (os, "rmdir"),
        (shutil, "rmtree"),
    ):
        setattr(module, name, _removing(overlay, getattr(module, name)))


def put_back(shadow: Path) -> tuple[Outside, ...]:
    """Remove what an agent made outside of its project; return what it did there, each file once."""
    noted = _noted(shadow)
    # The first note of a file says what happened to it.
    told = list({each.path: each for each in reversed(noted)}.values())[::-1]
    done: list[Outside] = []
    for each in told:
        path, copy = Path(each.path), Path(f"{shadow}{each.path}")
        if each.what == MADE:
            if path.is_dir() or not path.exists():
                continue
            for end in ("", "-wal", "-shm", "-journal"):
                Path(f"{path}{end}").unlink(missing_ok=True)
        elif each.what == CHANGED and _same(copy, path):
            continue
        done.append(each)
    made = [each.path for each in told if each.what == MADE]
    for folder in reversed(made):  # the innermost first
        if os.path.isdir(folder) and not os.path.islink(folder):
            # Another program may have put something there.
            with contextlib.suppress(OSError):
                os.rmdir(folder)
    return tuple(done)


def _is_in(real: str, paths: Iterable[str]) -> bool:
    """True if a path is one of some paths, or below one."""
    return any(real == each or real.startswith(f"{each}/") for each in paths)


def _noted(shadow: Path) -> list[Outside]:
    noted = shadow / NOTED
    lines = noted.read_text("utf-8").splitlines() if noted.exists() else []
    return [Outside(**json.loads(line)) for line in lines]


def _same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.read_bytes() == other.read_bytes()


def _opening(overlay: Overlay, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def opened(file: Any, mode: str = "r", *args: Any, **named: Any) -> Any:
        writes = not WRITES.isdisjoint(mode)
        return original(overlay.to_open(file, writes=writes), mode, *args, **named)

    return opened


def _opening_by_flags(
    overlay: Overlay, original: Callable[..., int]
) -> Callable[..., int]:
    @functools.wraps(original)
    def opened(path: Any, flags: int, *args: Any, **named: Any) -> int:
        if named.get("dir_fd") is None:
            path = overlay.to_open(path, writes=bool(flags & WRITING))
        return original(path, flags, *args, **named)

    return opened


def _connecting(overlay: Overlay, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def connected(database: Any, *args: Any, **named: Any) -> Any:
        if named.get("uri") and str(database).startswith("file:"):
            path, mark, options = str(database).removeprefix("file:").partition("?")
            if (
                path.startswith(":memory:")
                or "mode=ro" in options
                or "mode=memory" in options
            ):
                return original(database, *args, **named)
            where = overlay.to_open(path.removeprefix("//"), writes=True)
            return original(f"file:{where}{mark}{options}", *args, **named)
        if database in (":memory:", "", b""):
            return original(database, *args, **named)
        return original(overlay.to_open(database, writes=True), *args, **named)

    return connected


def _writing(overlay: Overlay, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def written(path: Any, *args: Any, **named: Any) -> Any:
        return original(overlay.to_open(path, writes=True), *args, **named)

    return written


def _making(overlay: Overlay, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def made(path: Any, *args: Any, **named: Any) -> Any:
        real = None if named.get("dir_fd") is not None else overlay.outside(path)
        if (
            real is not None
            and not os.path.exists(real)
            and not _is_a_librarys(real, overlay.inside)
        ):
            overlay.note(real, MADE)
        return original(path, *args, **named)

    return made


def _moving(overlay: Overlay, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def moved(src: Any, dst: Any, **named: Any) -> Any:
        if any(each is not None for each in named.values()):
            return original(src, dst, **named)  # below a folder that is open
        overlay.refuse_to_remove(src)
        source, target = (
            overlay.to_open(src, writes=False),
            overlay.to_open(dst, writes=True),
        )
        if target is dst and source is src:
            return original(src, dst)
        shutil.copyfile(source, target)  # a copy may lie on another device
        if source is src:
            os.unlink(src)
        return None

    return moved


def _removing(overlay: Overlay, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def removed(path: Any, *args: Any, **named: Any) -> Any:
        if named.get("dir_fd") is not None:
            return original(path, *args, **named)
        try:
            overlay.refuse_to_remove(path)
        except PermissionError:
            if named.get("ignore_errors") or (args and args[0] is True):
                return None
            raise
        return original(path, *args, **named)

    return removed


def _is_a_librarys(real: str, inside: Sequence[str]) -> bool:
    """True for a hidden file of the home folder that a library opens: a cache, its settings."""
    if not real.startswith(f"{os.path.expanduser('~')}/."):
        return False
    frame: Any = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        is_own = name == __file__ or name.startswith("<")
        if not is_own and (not name.startswith(STANDARD) or "site-packages" in name):
            return not name.startswith(tuple(inside))
        frame = frame.f_back
    return True


def _copy(real: str, copy: str) -> None:
    """Copy a file so that no other thread or process finds a part of it, or an older state.

    Of a database, all its files.
    """
    for end in ("-wal", "-journal", ""):
        if not os.path.exists(real + end):
            continue
        number, unfinished = tempfile.mkstemp(dir=os.path.dirname(copy))
        os.close(number)
        shutil.copyfile(real + end, unfinished)
        with contextlib.suppress(FileExistsError):  # another one was first
            os.link(unfinished, copy + end)
        os.unlink(unfinished)
