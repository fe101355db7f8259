"""Says what the terminal behind a stream can show, and fits text to it."""

from __future__ import annotations

import contextlib
import os
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TextIO, cast

ERASED = "\x1b[K"  # the rest of the line
TOLD_FIRST = 1.0  # seconds
TOLD_EVERY = 0.3  # seconds
NARROWEST = 40  # columns; below, lines are broken as for these


def has_colours(stream: TextIO) -> bool:
    """Return whether to colour: in terminals, as NO_COLOR and FORCE_COLOR say."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def width(stream: TextIO) -> int | None:
    """Return the columns of the terminal that shows a stream; None elsewhere."""
    if not stream.isatty():
        return None
    try:
        return max(NARROWEST, os.get_terminal_size(stream.fileno()).columns)
    except OSError:
        return None


def broken(text: str, columns: int, indent: int = 0) -> list[str]:
    """Break a text at words into lines, those that go on set in by ``indent``."""
    lines = textwrap.wrap(
        text,
        columns,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines or [""]


def fitted(text: str, stream: TextIO, indent: int) -> str:
    """Break the lines of a text to the width of a terminal; elsewhere they stay."""
    columns = width(stream)
    if columns is None:
        return text
    lines = (broken(line, columns, indent) for line in text.split("\n"))
    return "\n".join(line for each in lines for line in each)


@contextlib.contextmanager
def opened_terminal(mode: str) -> Iterator[TextIO | None]:
    """Open the terminal to read from it ("r") or to write to it ("w"), if there is one.

    That is a standard stream, or else the terminal of the process, whatever is piped.
    """
    streams = (sys.stdin, sys.stdout, sys.stderr)
    own = streams[:1] if mode == "r" else streams[1:]
    found = next((each for each in own if each.isatty()), None)
    if found is not None or not any(each.isatty() for each in streams):
        yield found
        return
    with contextlib.ExitStack() as stack:
        terminal = None
        with contextlib.suppress(OSError):
            opened = stack.enter_context(open("/dev/tty", mode, encoding="utf-8"))
            terminal = cast(TextIO, opened)
        yield terminal


def forget_typed() -> None:
    """Drop what was typed and not read, where standard input is a terminal."""
    with contextlib.suppress(OSError, ValueError, ImportError):
        import termios  # not on Windows

        termios.tcflush(sys.stdin, termios.TCIFLUSH)


def reading_shown(stream: TextIO) -> Callable[[int | None], None]:
    """Return what shows how many files were read, where a terminal waits for a second."""
    began = told = time.monotonic()
    shows = stream.isatty()

    def tell(files: int | None) -> None:
        nonlocal began, told
        now = time.monotonic()
        if files is None:
            if told > began:
                stream.write(f"\r{ERASED}")
            began = told = now
        elif shows and now - told > (TOLD_EVERY if told > began else TOLD_FIRST):
            stream.write(f"\r{ERASED}{files} files read, {now - began:.0f} s")
            stream.flush()
            told = now

    return tell


def shown_progress(paths: Iterable[Path], stream: TextIO) -> Iterator[Path]:
    """Yield paths, and say how many there were where a terminal shows a long run."""
    began = told = time.monotonic()
    shows = stream.isatty()
    for count, path in enumerate(paths, 1):
        now = time.monotonic()
        if shows and now - told > TOLD_EVERY:
            stream.write(f"\r{ERASED}{count} files read, {now - began:.0f} s")
            stream.flush()
            told = now
        yield path
    if told > began:
        stream.write(f"\r{ERASED}")
