"""Asks in a terminal: before it writes, and before it runs what was written or the agent."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import typer

from art_adapt.errors import Refusal
from art_adapt.terminal import opened_terminal

if TYPE_CHECKING:
    from art_adapt.settings import Options
    from art_adapt.source import Source


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
            said = "no answer was given, so the agent was not changed"
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


def watch_once(sources: Sequence[Source], options: Options) -> None:
    """Offer to watch the agent, unless it is known already which function runs an episode."""
    from art_adapt.capture.run import CannotStart
    from art_adapt.commands.capture import watch
    from art_adapt.guide.commands import as_typed
    from art_adapt.guide.watching import Watch, offer_to_watch
    from art_adapt.rehearsal.watched_command import Script
    from art_adapt.seen.notes import was_seen
    from art_adapt.terminal import forget_typed
    from art_adapt.train_file import standing_module

    agent = sources[0].path.absolute()
    known = options.entry is not None or options.single_turn or not options.train_module
    if known or standing_module(agent) is not None or was_seen(agent):
        return
    failed: list[Watch] = []
    while (wanted := offer_to_watch(agent, failed)) is not None:
        try:
            folder, command = as_typed(wanted.command)
        except ValueError as error:  # a quotation is not closed
            print(f"art-adapt: {wanted.command}: {error}")
            continue
        if not folder.is_dir():
            print(f"art-adapt: no such folder: {folder}")
            continue
        print(
            "Use it as usual: type, or send it a request. End it as usual, or with Ctrl-C.\n"
            + "A scripted model answers, in random words.\n" * wanted.scripted,
            flush=True,
        )
        try:
            script = Script() if wanted.scripted else None
            with contextlib.chdir(folder):
                code = watch(command, agent, script=script, guided=True)
            forget_typed()  # for the agent: it answers no question that comes now
            if code and not was_seen(agent):
                failed.append(wanted)
                continue  # another command may do, or the same with what it lacked
        except CannotStart as refusal:
            print(f"art-adapt: {refusal.what}")  # the question comes again
            continue
        except Refusal as refusal:
            # What it has shown is kept, and what it has not is read.
            print(f"art-adapt: {refusal}")
        return
