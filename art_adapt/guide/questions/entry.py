"""Which function runs one episode, where several are equally likely."""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.guide.question import Choice, Question, Situation
from art_adapt.paths import at, relative

ORDER = 10


def questions(situation: Situation) -> Iterator[Question]:
    if situation.entry is not None or situation.is_known("entry"):
        return
    entries = situation.survey.entry_points
    likeliest = [entry for entry in entries if entry.score == entries[0].score]
    names = [entry.called for entry in entries]
    choices = tuple(
        Choice(
            f"{entry.called}  {at(entry.place)}",
            {
                "entry": entry.called
                if names.count(entry.called) == 1
                else f"{relative(entry.home)}:{entry.called}"
            },
        )
        for entry in likeliest
    )
    if choices:
        yield Question(
            "Which function runs one episode?",
            choices,
            why="An episode is one task, from its start to its answer. The function starts the "
            "conversation, runs the tools and asks the model again.",
            open=True,
            of_agent=True,
        )
