"""Whether a request beside the conversation is trained, where that was told from its name."""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.guide.question import Choice, Question, Situation
from art_adapt.paths import at
from art_adapt.survey.calls.roles import Role
from art_adapt.survey.calls.said import is_named

ORDER = 40


def questions(situation: Situation) -> Iterator[Question]:
    options = situation.options
    named = (*options.policy, *options.auxiliary)
    if options.single_turn:
        return  # nothing of the agent runs
    calls = situation.survey.calls
    for call in calls:
        if call.role is not Role.AUXILIARY or any(is_named(call, n) for n in named):
            continue
        # A line is no name to keep: hooks move it.
        if sum(is_named(each, call.function) for each in calls) > 1:
            continue
        yield Question(
            f"Train the request in {call.function} ({at(call.place)}) as well?",
            (
                Choice(
                    "no, it is a side job",
                    {"auxiliary": (*options.auxiliary, call.function)},
                    call.reason,
                    is_usual=True,
                ),
                Choice(
                    "yes, it is one of the agent's own turns",
                    {"policy": (*options.policy, call.function)},
                ),
            ),
            why="A request that is not trained goes to the model that your agent names.",
            of_agent=True,
        )
