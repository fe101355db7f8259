"""Where training runs."""

from __future__ import annotations

import os
from collections.abc import Iterator

from art_adapt.backends import KEYS, Backend
from art_adapt.guide.question import Choice, Question, Situation

ORDER = 110


def questions(situation: Situation) -> Iterator[Question]:
    if situation.is_known("backend") or situation.options.pipeline:
        return
    yield Question(
        "Where do you train?",
        (
            Choice(
                "local",
                {"backend": "local"},
                "your own GPU, or a rented one, with 80 GB",
            ),
            Choice(
                "serverless",
                {"backend": Backend.SERVERLESS.value},
                f"W&B's GPUs; {_key(Backend.SERVERLESS)}",
            ),
            Choice(
                "tinker",
                {"backend": Backend.TINKER.value},
                f"Thinking Machines' GPUs; {_key(Backend.TINKER)}",
            ),
        ),
        of_agent=True,
    )


def _key(backend: Backend) -> str:
    """Say whether a backend's key is set."""
    state = "is set" if os.environ.get(KEYS[backend]) else "is not set here"
    return f"{KEYS[backend]} {state}"
