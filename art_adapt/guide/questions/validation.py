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
        "How many scenarios are held out to validate with?",
        (
            Choice(
                f"a tenth; of few a fifth, {usual} at most",
                {"validation_scenarios": usual},
            ),
            Choice(
                "none", {"validation_scenarios": 0}, "the latest checkpoint is kept"
            ),
        ),
        why="They tell which checkpoint is best. The same ones are held out in every run.",
        typed=("validation_scenarios",),
        example="a number: the most that are held out",
    )
