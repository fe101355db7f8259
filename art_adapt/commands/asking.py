"""The questions that art-adapt asks in a terminal.

They go where somebody sees them: to the terminal, also when the output is piped or a file.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

import typer

if TYPE_CHECKING:
    from art_adapt.survey.model import EntryPoint


def can_ask() -> bool:
    """Return whether somebody sits at a terminal, whatever is piped."""
    with _terminal() as terminal:
        return terminal is not None


@contextlib.contextmanager
def _terminal() -> Iterator[TextIO | None]:
    """Give where answers are typed: standard input, or else the terminal of the output."""
    if sys.stdin.isatty():
        yield sys.stdin
    elif sys.stdout.isatty() or sys.stderr.isatty():
        with contextlib.ExitStack() as stack:
            terminal = None
            with contextlib.suppress(OSError):
                terminal = stack.enter_context(open("/dev/tty", encoding="utf-8"))
            yield terminal
    else:
        yield None


@contextlib.contextmanager
def _asking() -> Iterator[TextIO]:
    """Read answers from the terminal; give the stream that shows on it."""
    shown = sys.stdout if sys.stdout.isatty() else sys.stderr
    stdin = sys.stdin
    with _terminal() as terminal:
        try:
            sys.stdin = terminal or stdin
            yield shown
        finally:
            sys.stdin = stdin


def choose_entry(entries: Sequence[EntryPoint]) -> EntryPoint:
    """Ask which of the equally likely entry points is meant."""
    from art_adapt.report.paths import shown

    with _asking() as stream:
        print("Which function runs one episode?", file=stream)
        for number, entry in enumerate(entries, 1):
            place = f"{shown(entry.place.path)}:{entry.place.line}"
            print(f"  {number}  {entry.called}  {place}", file=stream)
        while True:
            answer = int(typer.prompt("Number", type=int, err=stream is sys.stderr))
            if 1 <= answer <= len(entries):
                return entries[answer - 1]


def may_write() -> bool:
    """Ask whether to write; what would be written has been shown."""
    with _asking() as stream:
        print(file=stream)
        return typer.confirm("Write these changes?", err=stream is sys.stderr)
