"""Tells what should not be in a conversation: calls that nobody parsed, replies without a call.

Messages are those of the Chat Completions API, as dicts. The rehearsal looks at the requests
that it served, a training run at its trajectories.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

# How a train module names vLLM's parsers of tool calls and of thinking.
TOOL_PARSER = 'MODEL = {"server_args": {"tool_call_parser": ...}}'
REASONING_PARSER = 'MODEL = {"server_args": {"reasoning_parser": ...}}'

Json = dict[str, Any]

# How models write a call that vLLM's parser has to read (vLLM, tool_parsers): a content that
# holds one came from an engine with another parser, or with none.
CALL_MARKUP = (
    "<tool_call>",
    "<function=",
    "<|tool_call",
    "<|python_tag|>",
    "[TOOL_CALLS]",
    "<\uff5ctool\u2581call",  # DeepSeek's, with a bar and a space of its own
    "<|channel|>",
)
THINKING = ("<think>",)  # of an engine without a reasoning parser
MEDIA = ("image_url", "input_image", "input_audio", "video_url")  # types of parts
MAYBE_MEDIA = ("image", "file")  # also in what is no message


def text_of(message: Json) -> str:
    """Return the text of a message, whose content may be several parts."""
    content = message.get("content")
    if isinstance(content, list):
        texts = (part.get("text") for part in content if isinstance(part, dict))
        return "\n".join(str(text) for text in texts if text is not None)
    return content if isinstance(content, str) else ""


def unread_call(content: Any, messages: Sequence[Json]) -> str | None:
    """Return the markup of a tool call in a completion's content, if the agent asked for none.

    An agent that explains the markup in its own messages reads the calls itself.
    """
    return _markup(content, CALL_MARKUP, messages)


def unread_thinking(content: Any, messages: Sequence[Json]) -> str | None:
    """Return the markup of thinking in a completion's content, if the agent asked for none."""
    return _markup(content, THINKING, messages)


def _markup(
    content: Any, markup: Sequence[str], messages: Sequence[Json]
) -> str | None:
    found = next((m for m in markup if isinstance(content, str) and m in content), None)
    if found is None:
        return None
    asked = any(
        found in str(message.get("content"))
        for message in messages
        if message.get("role") != "assistant"
    )
    return None if asked else found


def replies_without_call(messages: Sequence[Json]) -> list[Json]:
    """Return the tool messages that answer no call of the messages before them."""
    called: set[str] = set()
    found = []
    for message in messages:
        called.update(_call_ids(message))
        if message.get("role") == "tool" and message.get("tool_call_id") not in called:
            found.append(message)
    return found


def calls_without_reply(messages: Sequence[Json]) -> list[str]:
    """Return the ids of tool calls that no later message answers."""
    replied = {str(message.get("tool_call_id")) for message in messages}
    return [each for m in messages for each in _call_ids(m) if each not in replied]


def media(messages: Sequence[Json]) -> Iterator[str]:
    """Yield the kinds of the parts that are no text."""
    for message in messages:
        content = message.get("content")
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict) and part.get("type") in (*MEDIA, *MAYBE_MEDIA):
                yield str(part["type"])


def _call_ids(message: Json) -> Iterator[str]:
    for call in message.get("tool_calls") or ():
        yield str(call.get("id"))
