"""Keep files outside of a project as they are: what an agent would change there gets a copy.

A rehearsal works on a copy of the project's folder. A path like ``~/notes.db`` leads out of
it: Python's own functions then open a copy of that file, in a folder that is thrown away. What
a compiled library or another process opens itself is not seen.

It needs the standard library only: an agent that is watched loads it, too.
"""

from __future__ import annotations

import builtins
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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NOTED = ".noted"
LARGEST = 1_000_000_000  # bytes of a file that is copied
WRITES = set("wax+")
SCRATCH = ("/tmp", "/var/tmp")  # where programs hand files to each other
SYSTEM = ("/dev", "/proc", "/sys")
STANDARD = sysconfig.get_paths()["stdlib"]


@dataclass(frozen=True)
class Outside:
    """A file outside of the project that an agent would have changed or made.

    ``at``: the line that opened it, as ``path:line``.
    """

    path: str
    at: str
    is_new: bool


@dataclass(frozen=True)
class Overlay:
    """Copies of files outside of ``inside``, the folders that may be written, below ``shadow``.

    ``project``: the folder of the user's, which may be copied into one of these.
    """

    inside: tuple[str, ...]
    shadow: str
    project: str

    def instead(self, path: Any, *, writes: bool) -> Any:
        """Return the path to open in the place of one: of its copy, if there has to be one."""
        if not isinstance(path, str | bytes | os.PathLike):
            return path  # a file that is open
        real = os.path.realpath(os.fsdecode(path))
        if not self.is_outside(real):
            return path
        copy = self.shadow + real
        if os.path.exists(copy):
            return copy
        if not writes or not _can_be_copied(real) or _is_a_librarys(real, self.inside):
            return path
        self._note(real)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        if os.path.exists(real):
            _copy(real, copy)
        return copy

    def is_outside(self, real: str) -> bool:
        """True if a path is nobody's but the user's."""
        # A project in the folder for temporary files has its data there.
        scratch = () if self.project.startswith(SCRATCH) else SCRATCH
        allowed = (*self.inside, *SYSTEM, *scratch, sys.prefix, sys.base_prefix)
        return not any(real == each or real.startswith(f"{each}/") for each in allowed)

    def _note(self, real: str) -> None:
        frame, at = sys._getframe(2), ""
        while frame is not None and not at:  # the project's own line
            if frame.f_code.co_filename.startswith(self.inside):
                at = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            frame = frame.f_back  # type: ignore[assignment]
        line = json.dumps({"path": real, "at": at, "is_new": not os.path.exists(real)})
        os.makedirs(self.shadow, exist_ok=True)
        noted = os.open(
            f"{self.shadow}/{NOTED}", os.O_WRONLY | os.O_APPEND | os.O_CREAT
        )
        os.write(noted, f"{line}\n".encode())
        os.close(noted)


def keep_as_it_is(overlay: Overlay) -> None:
    """Let this process open copies of what it would change outside of a project."""
    builtins.open = io.open = _opening(io.open, overlay)
    sqlite3.connect = sqlite3.dbapi2.connect = _connecting(overlay)
    for name in ("remove", "unlink", "rename", "replace", "truncate"):
        setattr(os, name, _changing(getattr(os, name), overlay))
    shutil.rmtree = _removing(shutil.rmtree, overlay)  # type: ignore[assignment]


def changed_outside(shadow: Path) -> Iterator[Outside]:
    """Yield what an agent has changed or made outside of its project, each once."""
    noted = shadow / NOTED
    lines = noted.read_text("utf-8").splitlines() if noted.exists() else []
    told = {found["path"]: found for found in map(json.loads, lines)}
    for path, found in told.items():
        copy = Path(f"{shadow}{path}")
        if copy.exists() and (found["is_new"] or not _same(copy, Path(path))):
            yield Outside(**found)


def _same(one: Path, other: Path) -> bool:
    return other.exists() and one.read_bytes() == other.read_bytes()


def _opening(original: Callable[..., Any], overlay: Overlay) -> Callable[..., Any]:
    @functools.wraps(original)
    def opened(file: Any, mode: str = "r", *args: Any, **named: Any) -> Any:
        writes = not WRITES.isdisjoint(mode)
        return original(overlay.instead(file, writes=writes), mode, *args, **named)

    return opened


def _connecting(overlay: Overlay) -> Callable[..., Any]:
    original = sqlite3.connect

    @functools.wraps(original)
    def connected(database: Any, *args: Any, **named: Any) -> Any:
        is_uri = named.get("uri") and str(database).startswith("file:")
        if is_uri or database in (":memory:", "", b""):
            return original(database, *args, **named)
        return original(overlay.instead(database, writes=True), *args, **named)

    return connected


def _changing(original: Callable[..., Any], overlay: Overlay) -> Callable[..., Any]:
    @functools.wraps(original)
    def changed(path: Any, *others: Any, **named: Any) -> Any:
        if any(each is not None for key, each in named.items() if key.endswith("_fd")):
            return original(path, *others, **named)  # below a folder that is open
        paths = (overlay.instead(each, writes=True) for each in (path, *others))
        return original(*paths, **named)  # a length is no path

    return changed


def _removing(original: Callable[..., Any], overlay: Overlay) -> Callable[..., Any]:
    @functools.wraps(original)
    def removed(path: Any, *args: Any, **named: Any) -> Any:
        real = os.path.realpath(os.fsdecode(path))
        if overlay.is_outside(real) and os.path.exists(real):
            why = "a rehearsal removes no folder outside of the project"
            raise PermissionError(errno.EACCES, why, real)
        return original(path, *args, **named)

    return removed


def _can_be_copied(real: str) -> bool:
    return not os.path.isdir(real) and (
        not os.path.exists(real) or os.path.getsize(real) < LARGEST
    )


def _is_a_librarys(real: str, inside: Sequence[str]) -> bool:
    """True for a hidden file of the home folder that a library opens: a cache, its settings."""
    home = os.path.expanduser("~")
    if not real.startswith(f"{home}/."):
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
    """Copy a file so that no other process finds a part of it; of a database, all its files."""
    for end in ("", "-wal", "-journal"):
        if os.path.exists(real + end):
            number, unfinished = tempfile.mkstemp(dir=os.path.dirname(copy))
            os.close(number)
            shutil.copyfile(real + end, unfinished)
            os.rename(unfinished, copy + end)
