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
def _asking(next_step: str = "") -> Iterator[None]:
    """Let questions be shown and answered on the terminal, also when the output is piped.

    ``next_step``: what a refusal says to do if nobody answers.
    """
    stdin, stdout = sys.stdin, sys.stdout
    with opened_terminal("r") as answers, opened_terminal("w") as questions:
        try:
            sys.stdin, sys.stdout = answers or stdin, questions or stdout
            yield
        except typer.Abort:
            print()
            said = "no answer was given, so nothing was written"
            raise Refusal(said, next_step=next_step) from None
        finally:
            sys.stdin, sys.stdout = stdin, stdout


def may_write(next_step: str = "") -> bool:
    """Ask whether to write; what would be written has been shown.

    Raises:
        Refusal: nobody has answered; it says the ``next_step``.
    """
    with _asking(next_step):
        print()
        return typer.confirm("Write these changes?", default=True)


def may_rehearse(module: str) -> bool:
    """Ask whether to rehearse what was just written."""
    with contextlib.suppress(Refusal), _asking():
        print()
        return typer.confirm(f"Rehearse {module} now?", default=True)
    return False  # nobody has answered, and all is written
