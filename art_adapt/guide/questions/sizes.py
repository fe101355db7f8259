"""How fast it learns, and from how much at a time."""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.guide.question import Choice, Question, Situation
from art_adapt.settings import TrainingOptions

ORDER = 130
NAMES = ("learning_rate", "rollouts_per_group", "groups_per_step")
USUAL = {name: getattr(TrainingOptions, name) for name in NAMES}
WIDE = {"learning_rate": 1e-5, "rollouts_per_group": 8, "groups_per_step": 4}


def questions(situation: Situation) -> Iterator[Question]:
    if situation.is_known(*NAMES):
        return
    yield Question(
        "Learning rate, rollouts per scenario, scenarios per step?",
        (
            Choice("1e-5, 4 and 2", USUAL, "the values that ART's guide starts with"),
            Choice(
                "1e-5, 8 and 4",
                WIDE,
                "for RULER and rare rewards; costs 4 times as much",
            ),
        ),
        why="The rollouts of a scenario are compared with each other. If all of them get the "
        "same reward, the model learns nothing.",
        typed=NAMES,
        example="three numbers, such as 2e-5 6 4",
    )
