"""A ``functools.partial`` of another callee."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

from art_adapt.recording.callees.callee import Callee, Finder, own_options


def find(function: Any, _: str, inner_callee: Finder) -> Callee | None:
    """Return the inner call, with the arguments that the partial gives it."""
    import openai

    if not isinstance(function, functools.partial):
        return None
    inner, given, named = function.func, function.args, function.keywords
    client = named.get("client")
    if isinstance(client, openai.OpenAI | openai.AsyncOpenAI):
        # instructor's way to the Responses API: a function that is given the client.
        return Callee(
            lambda client: functools.partial(
                inner, *given, **named | {"client": client}
            ),
            isinstance(client, openai.AsyncOpenAI),
            False,
            own_options(client),
        )
    call = inner_callee(inner)
    return replace(
        call, on=lambda client: functools.partial(call.on(client), *given, **named)
    )
