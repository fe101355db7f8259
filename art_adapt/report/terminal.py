"""Says what the terminal behind a stream can show, and fits text to it."""

from __future__ import annotations

import os
import textwrap
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

ERASED = "\x1b[K"  # the rest of the line
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
