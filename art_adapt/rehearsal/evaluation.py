"""Evaluate the tiny models that a rehearsal has trained, as the train module would."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from art_adapt.comparison import Result
from art_adapt.recording.responses.conversations import Conversations
from art_adapt.rehearsal.completions import answer
from art_adapt.rehearsal.endpoint import Answer, Endpoint, Request
from art_adapt.rehearsal.protocol import Evaluated, TinyModelSettings
from art_adapt.rehearsal.tiny_model import TinyModel

Json = dict[str, Any]
UNTRAINED = "untrained"
ROLLOUTS = 4  # of each scenario, by each model


def evaluate_checkpoints(module: Any, evaluated: Evaluated) -> tuple[Result, ...]:
    """Compare trained models with the one that their training began with.

    ``module`` is the train module; one that was not written by art-adapt has nothing
    to evaluate with.
    """
    if not {"Scenario", "rollout", "PROJECT"} <= vars(module).keys():
        return ()
    from art_adapt import training
    from art_adapt.training.evaluation import compared

    models = {UNTRAINED: _model(evaluated.model, None)}
    for name, file in evaluated.weights:
        models[name] = _model(evaluated.model, Path(file))
    with _served(models) as url:
        named = [word for name in models for word in ("--model", name)]
        options = ["--endpoint", url, "--no-production", "--rollouts", str(ROLLOUTS)]
        sys.argv = [str(module.__file__), "evaluate", *options, *named]
        run = training.prepare(module.Scenario, vars(module))
        # Words that it has never seen mean nothing to a model of this size.
        seen = [*run.scenarios, *run.validation]
        run = replace(run, scenarios=seen, validation=[])
        judge = getattr(module, "judge", None)
        results, _ = asyncio.run(compared(run, module.rollout, judge))
    return tuple(results)


def _model(settings: TinyModelSettings, weights: Path | None) -> TinyModel:
    """Make the tiny model anew; None: with the weights that training begins with."""
    tiny = TinyModel(settings)
    if weights is not None:
        tiny.load(weights)
    return tiny


@contextmanager
def _served(models: Mapping[str, TinyModel]) -> Iterator[str]:
    """Serve models by their names; yield the endpoint's base URL."""
    conversations = Conversations()
    serials = iter(range(sys.maxsize))

    def complete(_: str, request: Json) -> tuple[int, Json]:
        return 200, models[request["model"]].complete(request, next(serials))

    def answered(request: Request) -> Answer:
        return answer(request, complete, conversations)

    with Endpoint(answered, is_secret=True) as endpoint:
        yield endpoint.url
