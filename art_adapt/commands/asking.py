"""Asks before it writes, in a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

import typer

from art_adapt.errors import Refusal
from art_adapt.terminal import opened_terminal


def can_ask() -> bool:
    """Return whether somebody sits at a terminal, whatever is piped."""
    with opened_terminal("r") as terminal:
        return terminal is not None


@contextlib.contextmanager
def _asking() -> Iterator[None]:
    """Let questions be shown and answered on the terminal, also when the output is piped."""
    stdin, stdout = sys.stdin, sys.stdout
    with opened_terminal("r") as answers, opened_terminal("w") as questions:
        try:
            sys.stdin, sys.stdout = answers or stdin, questions or stdout
            yield
        except typer.Abort:
            print()
            raise Refusal("no answer was given, so nothing was written") from None
        finally:
            sys.stdin, sys.stdout = stdin, stdout


def may_write() -> bool:
    """Ask whether to write; what would be written has been shown."""
    with _asking():
        print()
        return typer.confirm("Write these changes?", default=True)


def may_rehearse(module: str) -> bool:
    """Ask whether to rehearse what was just written."""
    with contextlib.suppress(Refusal), _asking():
        print()
        return typer.confirm(f"Rehearse {module} now?", default=True)
    return False  # nobody has answered, and all is written
