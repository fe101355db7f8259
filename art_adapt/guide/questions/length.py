"""How long it trains."""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.guide.question import Choice, Question, Situation
from art_adapt.settings import TrainingOptions

ORDER = 140


def questions(situation: Situation) -> Iterator[Question]:
    if situation.is_known("epochs", "max_steps"):
        return
    epochs, steps = TrainingOptions.epochs, TrainingOptions.max_steps
    yield Question(
        "How long do you train?",
        (
            Choice(
                f"{epochs} passes over the scenarios, at most {steps} steps",
                {"epochs": epochs, "max_steps": steps},
                "enough for a first look; the next run continues from there",
            ),
            Choice(
                "until you stop it, at most 1000 steps",
                {"epochs": 0, "max_steps": 1000},
                "it passes over the scenarios again and again",
            ),
        ),
        typed=("epochs", "max_steps"),
        example="passes and steps, such as 5 200",
    )
