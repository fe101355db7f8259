"""Finds the models that are compared or probed, and where they are served."""

from __future__ import annotations

import os
from typing import Any

import art
import openai

from art_adapt.training.runs import Run

PRODUCTION = "production"


async def models_of(run: Run[Any]) -> list[art.Model[Any]]:
    """Return the models to compare.

    Raises:
        SystemExit: there is none, or the endpoint cannot be asked which it serves.
    """
    models: list[art.Model[Any]] = []
    project = str(run.plan.settings["PROJECT"])
    if run.with_production:
        models.append(art.Model(name=PRODUCTION, project=project))
    if run.endpoint is not None:
        key = os.environ.get("ENDPOINT_API_KEY", "none")
        names = run.models or await _served(run.endpoint, key)
        models += [
            art.Model(
                name=name,
                project=project,
                inference_base_url=run.endpoint,
                inference_api_key=key,
                inference_model_name=name,
            )
            for name in names
        ]
    if not models:
        raise SystemExit("no model to evaluate: name an endpoint with --endpoint")
    return models


async def model_of(run: Run[Any], doing: str) -> art.Model[Any]:
    """Return the one model to run; ``doing`` says what for.

    Raises:
        SystemExit: as ``models_of``, or there are several, and none was chosen.
    """
    models = await models_of(run)
    if len(models) != 1:
        names = ", ".join(model.name for model in models)
        raise SystemExit(f"{doing}: choose one with --model ({names})")
    return models[0]


async def _served(endpoint: str, key: str) -> list[str]:
    client = openai.AsyncOpenAI(base_url=endpoint, api_key=key)
    try:
        return [model.id async for model in client.models.list()]
    except openai.APIConnectionError as error:
        raise SystemExit(
            f"nothing answers at {endpoint}: start the server that serves the model, or correct "
            "--endpoint"
        ) from error
    except openai.OpenAIError as error:
        raise SystemExit(
            f"{endpoint} does not list the models that it serves: {error!r}. "
            "Name them with --model"
        ) from error
