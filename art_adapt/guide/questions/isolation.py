"""Whether each episode needs a process of its own, where modules hold what they change."""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.guide.question import Choice, Question, Situation
from art_adapt.survey.side_effects.harm import Harm, places_by_what

ORDER = 30


def questions(situation: Situation) -> Iterator[Question]:
    shared = situation.survey.effects(Harm.SHARED)
    options = situation.options
    if situation.is_known("isolate") or not shared or options.single_turn:
        return
    if situation.entry is not None and situation.entry.program is not None:
        return  # each episode has its own
    places = [
        f"{what} ({at})" + "," * (", which" in what)
        for what, at in places_by_what(shared).items()
    ][:3]
    verb = "is" if len(places) == 1 else "are"
    said = f"{' and '.join(places)} {verb} shared by all episodes."
    otherwise = next((e.otherwise for e in shared if e.otherwise), "")
    # A conversation of the module's is one of all episodes: each answers all others.
    if any(call.is_of_module for call in situation.survey.calls):
        otherwise = "otherwise each reads the messages of the others"
    together = Choice(
        "no, sharing is fine", {"isolate": None}, "fine for a cache or settings"
    )
    apart = Choice(
        "yes, in a process of its own",
        {"isolate": "process"},
        otherwise or "slower to start",
        is_usual=True,
    )
    if situation.survey.isolation() == "copy":
        apart = Choice(
            "yes, in a copy of the project's folder",
            {"isolate": "copy"},
            "the files of your folder stay as they are",
            is_usual=True,
        )
    yield Question(
        f"{said[0].upper()}{said[1:]} Give each its own?",
        (apart, together),
        why="Episodes run at the same time, so each sees the changes of the others.",
        of_agent=True,
    )
