"""A method of one of the SDK's resources, or of a look-alike's."""

from __future__ import annotations

import functools
import os
import types
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from art_adapt.calls import CHAT
from art_adapt.recording.callees.callee import Callee, Finder, own_options
from art_adapt.recording.messages import plain_copy

# Arguments whose passage through the SDK costs most; but for ``create`` it reads the tools.
LARGE = {
    "create": ("messages", "tools"),
    "parse": ("messages",),
}


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
    elif client is not None and _is_chat_of(client, resource):
        # Groq, Together, Cerebras and other clients made in the image of openai's: the model
        # in training speaks OpenAI's API.
        is_async = resource.__name__.startswith("Async")
        resource, options = (AsyncCompletions if is_async else Completions), {}
    else:
        return None

    def on(client: Any) -> Callable[..., Any]:
        there = resource(client)
        method: Callable[..., Any] = getattr(
            getattr(there, view) if view else there, name
        )
        # What a manager sends is read when it is entered, and may have grown by then.
        return functools.partial(_called, method, spares=not manager)

    manager = name == "stream" or view == "with_streaming_response"
    own = client if options else None
    return Callee(on, is_async, manager, options, own)


def _is_chat_of(client: Any, resource: type) -> bool:
    """Tell whether a resource is ``client.chat.completions``, whatever its class is called."""
    chat = getattr(client, "chat", None)
    is_named = resource.__name__ in CHAT.class_names
    return is_named or type(getattr(chat, "completions", None)) is resource


def _called(method: Callable[..., Any], *args: Any, spares: bool, **kwargs: Any) -> Any:
    """Call the SDK's method, without the argument that LangSmith's wrapper removes."""
    kwargs.pop("langsmith_extra", None)
    if spares and _is_the_sdks(method):
        kwargs = _spared(method.__name__, kwargs)
    return method(*args, **kwargs)


def _spared(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call so that the SDK has little to look through.

    At every call it walks all messages and tools, to turn typed objects into JSON
    (openai 2.54, _utils/_transform.py): 0.2 ms of CPU a message. What is JSON already comes
    out as it went in, and the SDK's own messages as ``model_dump`` gives them, so they go as
    ``extra_body``, which takes its place in the request as it is. Copied, as the SDK does,
    for a request may be sent twice.
    """
    given = arguments.get("extra_body") or {}
    large = LARGE.get(name, ())
    body: dict[str, Any] = {}
    for argument in large:
        if type(value := arguments.get(argument)) is list and argument not in given:
            with suppress(TypeError):  # whatever else the SDK takes
                body[argument] = [_as_json(each) for each in value]
    empty: dict[str, Any] = {argument: [] for argument in body}
    return (
        {**arguments, **empty, "extra_body": {**body, **given}} if body else arguments
    )


def _as_json(message: Any) -> Any:
    """Copy a message, or a tool, as the SDK writes it.

    Raises:
        TypeError: only the SDK knows how.
    """
    if type(message) is dict and type(calls := message.get("tool_calls")) is list:
        return {
            key: list(map(_dumped, calls)) if value is calls else plain_copy(value)
            for key, value in message.items()
        }
    return _dumped(message)


def _dumped(value: Any) -> Any:
    import openai

    # What a class leaves out, sync and async requests leave out differently.
    if isinstance(value, openai.BaseModel) and not hasattr(value, "__api_exclude__"):
        return value.model_dump(mode="json", exclude_unset=True)
    return plain_copy(value)


@functools.cache
def _folder() -> str:
    import openai

    return os.path.dirname(openai.__file__) + os.sep


def _is_the_sdks(method: Any) -> bool:
    """Tell whether a method is as the SDK wrote it: a tracer's reads the arguments."""
    while method is not None:
        function = getattr(method, "__func__", method)
        if not isinstance(function, types.FunctionType):
            return False
        if not function.__code__.co_filename.startswith(_folder()):
            return False
        method = getattr(function, "__wrapped__", None)
    return True
