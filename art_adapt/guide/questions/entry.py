"""Which function runs one episode, where several are equally likely, or nearly so.

Also where answers have made another one likelier than it was.
"""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.entry_decision import near, option_for
from art_adapt.guide.question import Choice, Question, Situation
from art_adapt.paths import at

WHOLE = "a whole conversation: each row holds all that a person types"
ORDER = 10  # after the requests that are not the agent's: they lead to other functions


def questions(situation: Situation) -> Iterator[Question]:
    if situation.is_known("entry") or situation.options.single_turn:
        return
    entries = situation.survey.entry_points
    found = situation.entry
    if found is None:
        likeliest = [entry for entry in entries if entry.score == entries[0].score]
    else:
        others = [entry for entry in entries if entry is not found]
        before = situation.entry_at_first
        was = [e for e in others if before is not None and e.key == before.key]
        typed = [entry for entry in others if entry.is_typed_to]
        further = (*near(found, others), *typed)
        likeliest = list(dict.fromkeys([*was, found, *further]))
    if not likeliest or (found is not None and len(likeliest) == 1):
        return
    yield Question(
        "Which function runs one episode?",
        tuple(
            Choice(
                f"{entry.called}  {at(entry.place)}",
                {"entry": None if entry is found else option_for(entry, entries)},
                WHOLE if entry.is_typed_to else entry.documentation,
                is_usual=entry is found,
            )
            for entry in likeliest
        ),
        why="An episode is one task, from its start to its answer. The function starts the "
        "conversation, runs the tools and asks the model again.",
        open=found is None,
        of_agent=True,
    )
