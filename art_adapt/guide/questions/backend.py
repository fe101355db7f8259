"""Where training runs."""

from __future__ import annotations

import os
from collections.abc import Iterator

from art_adapt.guide.question import Choice, Question, Situation

ORDER = 110


def questions(situation: Situation) -> Iterator[Question]:
    if situation.is_known("backend") or situation.options.pipeline:
        return
    key = "WANDB_API_KEY"
    state = "is set" if os.environ.get(key) else "is not set here"
    yield Question(
        "Where does training run?",
        (
            Choice("local", {"backend": "local"}, "a GPU of 80 GB, yours or rented"),
            Choice(
                "serverless", {"backend": "serverless"}, f"W&B's GPUs; {key} {state}"
            ),
        ),
    )
