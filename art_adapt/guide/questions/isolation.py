"""Whether episodes need a process each, where modules hold what they change."""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.guide.question import Choice, Question, Situation
from art_adapt.paths import at
from art_adapt.survey.side_effects.harm import Harm

ORDER = 30


def questions(situation: Situation) -> Iterator[Question]:
    shared = situation.survey.effects(Harm.SHARED)
    options = situation.options
    if situation.is_known("isolate") or not shared or options.single_turn:
        return
    places = ", ".join(dict.fromkeys(f"{e.what} ({at(e.place)})" for e in shared[:3]))
    yield Question(
        "Does what modules hold belong to one episode?",
        (
            Choice("no, all may see it", {"isolate": None}, "a cache, settings"),
            Choice(
                "yes, run each in a process of its own",
                {"isolate": "process"},
                "slower to start",
            ),
        ),
        why=f"Side by side, episodes see what another has changed: {places}.",
        of_agent=True,
    )
