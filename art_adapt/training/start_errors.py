"""Says what to do where a train module ends before it reads its command line."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from shlex import quote
from types import TracebackType

import openai

from art_adapt.calls import ANY_KEY, DEFAULT_KEY
from art_adapt.training.threads import own_place

HELP = {"-h", "--help"}
SET_KEY = f"set it; {ANY_KEY}"


def explain_start_errors() -> None:
    """Print one message in place of a traceback where a mistake of the user's ends the start.

    ``--help`` needs no key.

    An agent that makes its client at module level raises while a train module imports it (openai
    2.x and 3.x, _client.py). A package's train module cannot be started by its file's name.
    """
    if HELP & {*sys.orig_argv}:  # it ends before a model is asked
        os.environ.setdefault(DEFAULT_KEY, "-")
    before = sys.excepthook

    def hook(
        kind: type[BaseException],
        error: BaseException,
        frames: TracebackType | None,
    ) -> None:
        said = None
        if lacks_key(error):
            said = f"{without_key(error)}\n  next: {SET_KEY}\n"
        elif kind is ImportError and "no known parent package" in str(error):
            said = _as_a_file()
        if said is None:
            before(kind, error, frames)
        else:
            sys.stderr.write(said)

    sys.excepthook = hook


def lacks_key(error: BaseException) -> bool:
    """True if a client was made without a key (openai 2.x and 3.x, _client.py)."""
    return type(error) is openai.OpenAIError and DEFAULT_KEY in str(error)


def without_key(error: BaseException) -> str:
    """Return where the agent makes its client, for an error that ``lacks_key`` knows."""
    place = own_place(traceback.extract_tb(error.__traceback__)) or "the agent"
    return f"{place}: the agent makes its client here, and {DEFAULT_KEY} is not set"


def _as_a_file() -> str | None:
    """Return how a package's module is started; None if Python runs another file."""
    from art_adapt.train_file import import_name

    started = getattr(sys.modules["__main__"], "__file__", None)
    root, name = import_name(Path(started)) if started is not None else (Path(), "")
    if "." not in name:
        return None
    folder = os.path.relpath(root)
    there = "" if folder == "." else f"cd {quote(folder)} && "
    return (
        f"{os.path.relpath(started or '')}: this module is in a package, so it cannot run as a file\n"
        f"  next: {there}python -m {name}\n"
    )
