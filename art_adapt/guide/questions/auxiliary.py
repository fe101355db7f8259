"""Whether a request beside the conversation is trained.

It was told from its name, or it asks another model.
"""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.guide.question import Choice, Question, Situation
from art_adapt.paths import at
from art_adapt.survey.calls.roles import Role
from art_adapt.survey.calls.said import asks_another_model, is_named

ORDER = 40


def questions(situation: Situation) -> Iterator[Question]:
    options = situation.options
    named = (*options.policy, *options.auxiliary)
    if options.single_turn:
        return  # nothing of the agent runs
    calls = situation.survey.calls
    policy = [each for each in calls if each.role is Role.POLICY]
    for call in calls:
        other = call.role is Role.POLICY and asks_another_model(call, policy)
        is_asked = call.role is Role.AUXILIARY or other
        if not is_asked or any(is_named(call, n) for n in named):
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
                    f"it asks {call.model}, another model" if other else call.reason,
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
