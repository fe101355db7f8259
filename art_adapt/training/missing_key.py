"""Says what to do where an agent's client cannot be made, because no key is set."""

from __future__ import annotations

import sys
import traceback
from types import TracebackType

import openai

from art_adapt.calls import DEFAULT_KEY
from art_adapt.training.threads import own_place


def explain_missing_key() -> None:
    """Print one message in place of a traceback if the SDK ends the program for want of a key.

    An agent that makes its client at module level raises while a train module imports it,
    before any command line is read (openai 2.x and 3.x, _client.py).
    """
    before = sys.excepthook

    def hook(
        kind: type[BaseException],
        error: BaseException,
        frames: TracebackType | None,
    ) -> None:
        if kind is not openai.OpenAIError or DEFAULT_KEY not in str(error):
            before(kind, error, frames)
            return
        place = own_place(traceback.extract_tb(frames)) or "the agent"
        sys.stderr.write(
            f"{place}: the agent makes its client here, and {DEFAULT_KEY} is not set\n"
            f"  next: set it; any text will do if only the model in training is asked\n"
        )

    sys.excepthook = hook
