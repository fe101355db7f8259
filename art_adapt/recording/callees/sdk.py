"""A method of one of the SDK's resources, or of a look-alike's."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from art_adapt.recording.callees.callee import Callee, Finder, own_options
from art_adapt.survey.apis import CHAT


def find(function: Any, view: str, _: Finder) -> Callee | None:
    """Return the call of ``client.chat.completions.create`` and its kin."""
    import openai
    from openai.resources.chat.completions import AsyncCompletions, Completions

    owner = getattr(function, "__self__", None)
    client = getattr(owner, "_client", None)
    resource: Any = type(owner)
    name = getattr(function, "__name__", "")
    if isinstance(client, openai.OpenAI | openai.AsyncOpenAI):
        is_async = isinstance(client, openai.AsyncOpenAI)
        options = own_options(client)
    elif client is not None and resource.__name__ in CHAT.class_names:
        # Groq, Together and other clients made in the image of openai's: the model in
        # training speaks OpenAI's API.
        is_async = resource.__name__ == "AsyncCompletions"
        resource, options = (AsyncCompletions if is_async else Completions), {}
    else:
        return None

    def on(client: Any) -> Callable[..., Any]:
        there = resource(client)
        method: Callable[..., Any] = getattr(
            getattr(there, view) if view else there, name
        )
        return functools.partial(_without_tracing, method)

    manager = name == "stream" or view == "with_streaming_response"
    own = client if options else None
    return Callee(on, is_async, manager, options, own)


def _without_tracing(method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call the SDK's method without the argument that LangSmith's wrapper removes."""
    kwargs.pop("langsmith_extra", None)
    return method(*args, **kwargs)
