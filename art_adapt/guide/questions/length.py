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
        "How long does it train?",
        (
            Choice(
                f"{epochs} passes over the scenarios, {steps} steps at most",
                {"epochs": epochs, "max_steps": steps},
                "for a first look; a further run goes on",
            ),
            Choice(
                "without an end, 1000 steps at most",
                {"epochs": 0, "max_steps": 1000},
                "scenarios again and again, until it is stopped",
            ),
        ),
        typed=("epochs", "max_steps"),
        example="passes and steps, as 5 200",
    )
