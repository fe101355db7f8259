"""Which model is trained."""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.guide.question import Choice, Question, Situation
from art_adapt.rehearsal.cost import BYTES, weights_of
from art_adapt.settings import TrainingOptions

ORDER = 100
# The three of ART's guide, none of which it prefers.
MODELS = (
    "OpenPipe/Qwen3-14B-Instruct",
    "Qwen/Qwen3-30B-A3B-Instruct-2507",
    "meta-llama/Llama-3.1-8B-Instruct",
)
assert TrainingOptions.base_model in MODELS


def questions(situation: Situation) -> Iterator[Question]:
    if situation.is_known("base_model"):
        return
    yield Question(
        "Which model do you train?",
        tuple(Choice(m, {"base_model": m}, _memory(m)) for m in MODELS),
        why="ART trains all three models the same way, and prefers none of them.",
        unranked=True,
        typed=("base_model",),
        example="the name of another one on Hugging Face",
    )


def _memory(model: str) -> str:
    weights, _ = weights_of(model)
    return f"{(weights or 0) * BYTES:.0f} GB of GPU memory for the weights alone"
