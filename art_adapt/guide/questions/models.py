"""Whose replies are trained, where one episode may ask several models side by side."""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.decisions import said_in
from art_adapt.guide.question import Choice, Question, Situation
from art_adapt.survey.calls.roles import Role
from art_adapt.survey.calls.said import models_of, where_asked

ORDER = 15  # after the function that runs an episode: it decides which models are asked


def questions(situation: Situation) -> Iterator[Question]:
    if situation.options.single_turn:
        return  # nothing of the agent runs
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
