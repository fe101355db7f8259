"""The questions that art-adapt asks in a terminal.

They go where somebody sees them: to the terminal, also when the output is piped or a file.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO, cast

import typer

from art_adapt.errors import Refusal

if TYPE_CHECKING:
    from art_adapt.survey.model import EntryPoint


def can_ask() -> bool:
    """Return whether somebody sits at a terminal, whatever is piped."""
    with _terminal("r") as terminal:
        return terminal is not None


@contextlib.contextmanager
def _terminal(mode: str) -> Iterator[TextIO | None]:
    """Open the terminal to read from it or to write to it, if there is one."""
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


@contextlib.contextmanager
def _asking() -> Iterator[None]:
    """Let questions be shown and answered on the terminal."""
    stdin, stdout = sys.stdin, sys.stdout
    with _terminal("r") as answers, _terminal("w") as questions:
        try:
            sys.stdin, sys.stdout = answers or stdin, questions or stdout
            yield
        except typer.Abort:
            print()
            raise Refusal("nobody has answered, so nothing was written") from None
        finally:
            sys.stdin, sys.stdout = stdin, stdout


def choose_entry(entries: Sequence[EntryPoint]) -> EntryPoint:
    """Ask which of the equally likely entry points is meant."""
    from art_adapt.report.paths import at

    with _asking():
        print("Which function runs one episode?")
        for number, entry in enumerate(entries, 1):
            print(f"  {number}  {entry.called}  {at(entry.place)}")
        while True:
            answer = int(typer.prompt("Number", type=int))
            if 1 <= answer <= len(entries):
                return entries[answer - 1]


def may_write() -> bool:
    """Ask whether to write; what would be written has been shown."""
    with _asking():
        print()
        return typer.confirm("Write these changes?")
