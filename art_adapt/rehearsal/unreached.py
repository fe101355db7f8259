"""Note what an agent asks for that a rehearsal does not have: programs, files, and services.

A tool that catches the failure answers all the same, so its reply need not show it.
"""

from __future__ import annotations

import builtins
import functools
import io
import json
import os
import pathlib
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from art_adapt.rehearsal import outside
from art_adapt.rehearsal.environment import NOWHERE
from art_adapt.rehearsal.places import is_own

PROGRAM, SERVICE, FILE = "program", "service", "file"  # that are not there
STARTED, OPENED = "started", "opened"
NOT_FOUND = 127  # a shell's exit code
MOST = 1_000  # notes of one process
OPENING = (pathlib.__file__, outside.__file__)  # open files for who calls them


@dataclass(frozen=True)
class Unreached:
    """Something that an agent's code asked for, and the function that did.

    ``what``: a PROGRAM that is not installed, a SERVICE, a FILE or folder that does not exist;
    or that a program was STARTED, a file OPENED. ``name``: the program, the path or the service's
    host; empty where a proxy would have reached it.
    ``at``: the line, as ``path:line``.
    """

    what: str
    name: str
    function: str
    at: str


def unreached_file(out: str | Path) -> Path:
    """Return where the processes of a rehearsal note what was not reached."""
    return Path(f"{out}.unreached")


def read_unreached(text: str) -> tuple[Unreached, ...]:
    """Return what the processes of a rehearsal have noted, each once."""
    lines = (Unreached(**json.loads(line)) for line in text.splitlines())
    return tuple(dict.fromkeys(lines))


def note_unreached(file: Path) -> None:
    """Let this process note in ``file`` what it does not reach, from functions of the user's."""
    note = functools.partial(_note, file, set())
    _note_programs(note)
    _note_services(note)
    builtins.open = io.open = _opening(note, io.open)


def _note_programs(note: Callable[[str, str], None]) -> None:
    popen: Any = subprocess.Popen
    start = popen.__init__

    @functools.wraps(start)
    def started(self: Any, args: Any, *others: Any, **named: Any) -> None:
        try:
            start(self, args, *others, **named)
        except FileNotFoundError as error:
            folder = named.get("cwd")
            if folder is None or os.path.isdir(folder):  # else that is what is missing
                note(PROGRAM, os.path.basename(str(error.filename)))
            raise
        if not isinstance(args, str):  # else a shell has started
            note(STARTED, _program(args))

    def ended(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def asked(self: Any, *given: Any, **named: Any) -> Any:
            code = original(self, *given, **named)
            if code is not None and isinstance(self.args, str):
                note(PROGRAM if code == NOT_FOUND else STARTED, _program(self.args))
            return code

        return asked

    popen.__init__ = started
    popen.wait, popen.poll = ended(popen.wait), ended(popen.poll)


def _note_services(note: Callable[[str, str], None]) -> None:
    module: Any = socket
    look_up = module.getaddrinfo
    nowhere = (urlsplit(NOWHERE).hostname, urlsplit(NOWHERE).port)

    @functools.wraps(look_up)
    def looked_up(host: Any, *others: Any, **named: Any) -> Any:
        try:
            return look_up(host, *others, **named)
        except socket.gaierror:
            note(SERVICE, os.fsdecode(host or ""))
            raise

    def connecting(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def connect(self: Any, address: Any) -> Any:
            if isinstance(address, tuple) and address[:2] == nowhere:
                note(SERVICE, "")
            return original(self, address)

        return connect

    module.getaddrinfo = looked_up
    for name in ("connect", "connect_ex"):
        setattr(module.socket, name, connecting(getattr(module.socket, name)))


def _opening(
    note: Callable[[str, str], None], original: Callable[..., Any]
) -> Callable[..., Any]:
    @functools.wraps(original)
    def opened(file: Any, *others: Any, **named: Any) -> Any:
        is_path = isinstance(file, str | bytes | os.PathLike)
        path = os.fsdecode(file) if is_path and _is_opened_by_own() else None
        try:
            found = original(file, *others, **named)
        except FileNotFoundError:
            if path is not None:
                note(FILE, _missing(path))
            raise
        if path is not None:
            note(OPENED, path)
        return found

    return opened


def _is_opened_by_own() -> bool:
    """True if code of the user's own opens a file itself: an ``open``, or a method of a Path."""
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename in OPENING:
        frame = frame.f_back
    return frame is not None and is_own(frame)


def _missing(path: str) -> str:
    """Return what does not exist of a path: a folder, with a slash at its end, or the file."""
    folder = os.path.dirname(path)
    return path if not folder or os.path.isdir(folder) else f"{folder}/"


def _program(args: Any) -> str:
    """Return the program of a command line: its first word."""
    if isinstance(args, str):
        words = args.split()
        return os.path.basename(words[0]) if words else ""
    first = args if isinstance(args, bytes | os.PathLike) else next(iter(args), "")
    return os.path.basename(os.fsdecode(first))


def _note(file: Path, noted: set[Unreached], what: str, name: str) -> None:
    """Note what the innermost function of the user's own asked for, if one did, once."""
    frame = sys._getframe(2)
    while frame is not None and not is_own(frame):
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None or frame.f_code.co_name == "<module>" or len(noted) >= MOST:
        return
    code = frame.f_code
    found = Unreached(
        what, name, code.co_qualname, f"{code.co_filename}:{frame.f_lineno}"
    )
    if found not in noted:
        noted.add(found)
        with file.open("a", encoding="utf-8") as notes:
            notes.write(f"{json.dumps(asdict(found))}\n")
