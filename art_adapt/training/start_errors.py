"""Says what to do where a train module ends before it reads its command line."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from shlex import quote
from types import TracebackType

import openai

from art_adapt.calls import DEFAULT_KEY
from art_adapt.training.threads import own_place

HELP = {"-h", "--help"}


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
        if kind is openai.OpenAIError and DEFAULT_KEY in str(error):
            said = _without_key(frames)
        elif kind is ImportError and "no known parent package" in str(error):
            said = _as_a_file()
        if said is None:
            before(kind, error, frames)
        else:
            sys.stderr.write(said)

    sys.excepthook = hook


def _without_key(frames: TracebackType | None) -> str:
    place = own_place(traceback.extract_tb(frames)) or "the agent"
    return (
        f"{place}: the agent makes its client here, and {DEFAULT_KEY} is not set\n"
        f"  next: set it; any text will do if only the model in training is asked\n"
    )


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
