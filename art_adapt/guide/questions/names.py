"""What the project and the run are called."""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.decisions import names_for
from art_adapt.guide.question import Choice, Question, Situation

ORDER = 120


def questions(situation: Situation) -> Iterator[Question]:
    if situation.entry is None:
        return
    project, run_name = names_for(situation.entry.home)
    if not situation.is_known("project"):
        yield Question(
            "What is the name of the project?",
            (Choice(project, {"project": project}, is_usual=True),),
            why="Your runs are grouped under this name, in ART and in W&B.",
            typed=("project",),
            example="a name",
        )
    if not situation.is_known("run_name"):
        yield Question(
            "What is the name of this run?",
            (Choice(run_name, {"run_name": run_name}, is_usual=True),),
            why="The model and its checkpoints get this name. A run with the same name "
            "continues.",
            typed=("run_name",),
            example="letters, digits, dots, hyphens and underscores",
        )
