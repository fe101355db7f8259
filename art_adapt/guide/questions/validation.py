"""How many scenarios are held out."""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.guide.question import Choice, Question, Situation
from art_adapt.settings import TrainingOptions

ORDER = 90


def questions(situation: Situation) -> Iterator[Question]:
    if situation.is_known("validation_scenarios"):
        return
    usual = TrainingOptions.validation_scenarios
    yield Question(
        "How many scenarios do you hold out for validation?",
        (
            Choice(
                f"a fifth, at most {usual}",
                {"validation_scenarios": usual},
            ),
            Choice(
                "none",
                {"validation_scenarios": 0},
                "then the latest checkpoint is kept",
            ),
        ),
        why="Held-out scenarios show which checkpoint is best. Every run holds out the same ones.",
        typed=("validation_scenarios",),
        example="a number, the most to hold out",
    )
