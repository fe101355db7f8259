"""Which model judges."""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.guide.question import Choice, Question, Situation
from art_adapt.settings import TrainingOptions

ORDER = 70


def questions(situation: Situation) -> Iterator[Question]:
    if situation.is_known("judge_model") or not situation.is_judged:
        return
    usual = TrainingOptions.judge_model
    yield Question(
        "Which model is the judge?",
        (
            Choice(
                usual, {"judge_model": usual}, "ART's default; it needs OPENAI_API_KEY"
            ),
        ),
        why="The judge reads every episode. A step of 2 scenarios with 4 episodes each makes two "
        "requests.",
        typed=("judge_model",),
        example="a model's name in LiteLLM, such as anthropic/claude-sonnet-4-5",
    )
