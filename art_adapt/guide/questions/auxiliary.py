"""Whether a request beside the conversation is trained, and which of several models is.

A request was told from its name, or it asks another model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from art_adapt.calls import is_function
from art_adapt.decisions import said_in
from art_adapt.guide.question import Choice, Question, Situation
from art_adapt.paths import at
from art_adapt.source import Place
from art_adapt.survey.calls.roles import Role
from art_adapt.survey.calls.said import (
    asks_another_model,
    is_named,
    models_of,
    where_asked,
)
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
            unranked=found.is_trained,
            why=f"{found.because[0].upper()}{found.because[1:]}. Yes: the model in training writes these "
            "replies, too. No: the model that writes them today still does, and is not trained.",
            of_agent=True,
        )
    yield from _models(situation)


def _models(situation: Situation) -> Iterator[Question]:
    """Yield which models are trained, where one episode may ask several side by side."""
    options, calls = situation.options, situation.survey.calls
    policy = [call for call in calls if call.role is Role.POLICY]
    models = models_of(policy, said_in(options))
    if not models:
        return
    functions = {call.function for asked in models.values() for call in asked}
    every = Choice(
        "all of them",
        {"policy": (*options.policy, *sorted(functions))},
        "they are roles of one agent, and share a reward",
        is_usual=True,
    )
    single = [
        Choice(
            f"only {name}",
            {"auxiliary": (*options.auxiliary, *(n for n in models if n != name))},
            "the others stay the models that they are: opponents, judges, tools",
        )
        for name in models
    ]
    yield Question(
        f"One episode may ask several models: {where_asked(models)}. Whose replies are trained?",
        (every, *single),
        unranked=True,
        why="The model in training takes the place of each model whose replies are trained.",
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
