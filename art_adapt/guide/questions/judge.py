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
        "Which model judges?",
        (Choice(usual, {"judge_model": usual}, "what ART recommends; OPENAI_API_KEY"),),
        why="It reads every episode: a step of 4 x 2 episodes is two requests.",
        typed=("judge_model",),
        example="a model's name, as LiteLLM knows it: anthropic/claude-sonnet-4-5",
    )
