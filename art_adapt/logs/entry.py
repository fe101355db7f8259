"""What a line of a log says: how an episode began, or a request and its answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """What a chat model was asked, and what it said.

    Attributes:
        messages: of the request, as the OpenAI API takes them.
        tools: that it offered.
        model: that was asked; empty where the log does not say.
        answer: the message that came back; None where the log has none.
    """

    messages: list[Json]
    tools: list[Json] | None = None
    model: str = ""
    answer: Json | None = None


@dataclass(frozen=True)
class Entry:
    """A line of a log.

    Attributes:
        trace: what all lines of one episode have in common; None where a log has no such
            thing.
        at: when it began, as the log writes it; lines of a trace sort by it.
        name: of the function or the model call, if the log says it.
        arguments: what a traced function was given, by parameter.
        positional: what it was given without a name.
        result: what it returned.
        request: None for functions.
    """

    trace: str | None = None
    at: str = ""
    name: str = ""
    arguments: Json = field(default_factory=dict)
    positional: tuple[Any, ...] = ()
    result: Any = None
    request: Request | None = None


def request_of(said: Any, answer: Any = None) -> Request | None:
    """Read the keyword arguments of a chat completion, or a list of messages.

    ``answer``: a message, or a completion with ``choices``. None if ``said`` is neither.
    """
    if isinstance(said, list):
        said = {"messages": said}
    if not isinstance(said, dict):
        return None
    messages = said.get("messages")
    if (
        not isinstance(messages, list)
        or not messages
        or not all(map(_is_message, messages))
    ):
        return None
    tools, model = said.get("tools"), said.get("model")
    return Request(
        messages,
        tools
        if isinstance(tools, list) and tools and all(map(_is_tool, tools))
        else None,
        model if isinstance(model, str) else "",
        answer_of(answer),
    )


def answer_of(said: Any) -> Json | None:
    """Return the assistant's message of a completion; None if ``said`` holds none."""
    if isinstance(said, dict) and isinstance(said.get("choices"), list):
        choices = said["choices"]
        said = (
            choices[0].get("message")
            if choices and isinstance(choices[0], dict)
            else None
        )
    if not isinstance(said, dict) or said.get("role", "assistant") != "assistant":
        return None
    kept = {k: said[k] for k in ("content", "tool_calls", "refusal") if said.get(k)}
    return {"role": "assistant", "content": None, **kept} if kept else None


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("role"), str)


def _is_tool(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("function", value), dict)
