"""Whether a request beside the conversation is trained.

It was told from its name, or it asks another model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from art_adapt.calls import is_function
from art_adapt.guide.question import Choice, Question, Situation
from art_adapt.paths import at
from art_adapt.source import Place
from art_adapt.survey.calls.roles import Role
from art_adapt.survey.calls.said import asks_another_model, is_named
from art_adapt.survey.model import CompletionCall

ORDER = 5  # first: which function runs an episode depends on it


@dataclass(frozen=True)
class _Beside:
    """A request beside the conversation; ``is_trained`` unless somebody says no."""

    function: str
    place: Place
    because: str
    is_trained: bool


def questions(situation: Situation) -> Iterator[Question]:
    options = situation.options
    if options.single_turn:
        return  # nothing of the agent runs
    for found in _beside(situation.survey.calls, (*options.policy, *options.auxiliary)):
        side_job = Choice(
            "no, it is a side job",
            {"auxiliary": (*options.auxiliary, found.function)},
            found.because,
            is_usual=not found.is_trained,
        )
        own = Choice(
            "yes, it is one of the agent's own turns",
            {"policy": (*options.policy, found.function)},
            is_usual=found.is_trained,
        )
        yield Question(
            f"Train the request in {found.function} ({at(found.place)}) as well?",
            (own, side_job) if found.is_trained else (side_job, own),
            open=found.is_trained,  # by its model alone nobody can tell
            why=f"{found.because[0].upper()}{found.because[1:]}. Yes: the model in training writes these "
            "replies, too. No: the model that writes them today still does, and is not trained.",
            of_agent=True,
        )


def _beside(calls: Sequence[CompletionCall], named: Sequence[str]) -> Iterator[_Beside]:
    """Yield the requests beside the conversation of which nobody has said yet whose they are."""
    policy = [each for each in calls if each.role is Role.POLICY]
    for call in calls:
        for asker in (*call.asides, *call.beside):
            settled = any(is_function(asker.function, name) for name in named)
            if (asker.reason or asker.model) and not settled:
                because = asker.reason or f"it asks {asker.model}, another model"
                is_trained = not asker.reason
                yield _Beside(asker.function, asker.place, because, is_trained)
        other = call.role is Role.POLICY and asks_another_model(call, policy)
        is_asked = call.role is Role.AUXILIARY or other
        if not is_asked or any(is_named(call, n) for n in named):
            continue
        # A line is no name to keep: hooks move it.
        if sum(is_named(each, call.function) for each in calls) > 1:
            continue
        because = f"it asks {call.model}, another model" if other else call.reason
        if other and not call.in_episode:
            because += ", and no episode runs it"
        because = because.partition("; --policy")[0]  # which this question decides
        is_trained = other and call.in_episode
        yield _Beside(call.function, call.place, because, is_trained)
