"""What the judge looks for."""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.guide.question import Choice, Question, Situation

ORDER = 60


def questions(situation: Situation) -> Iterator[Question]:
    if situation.is_known("rubric") or not situation.is_judged:
        return
    yield Question(
        "What makes one episode better than another?",
        (
            Choice(
                "use ART's own rubric",
                {"rubric": None},
                "reach the goal in fewer steps",
            ),
        ),
        why="The judge gets this text with every group. A scenario can override it with a rubric "
        "and a reference of its own.",
        typed=("rubric",),
        example="a sentence or two, such as: It answers from the documents only.",
    )
