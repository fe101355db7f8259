"""The older ``functions=`` in terms of tools, which is all that engines take."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from art_adapt.recording.histories import Request
from art_adapt.recording.messages import essence, named_call, plain


def are_asked_for(body: dict[str, Any]) -> bool:
    """True if a request offers functions, or its conversation has called some."""
    return bool(body.get("functions")) or any(
        isinstance(each, dict)
        and (each.get("role") == "function" or bool(each.get("function_call")))
        for each in body.get("messages") or ()
    )


class Functions:
    """Translate the older ``functions=`` into tools, and calls back into functions."""

    def __init__(self) -> None:
        # The ids of calls, by the conversation before them and what they call.
        self._ids: dict[tuple[int, Any, Any], str] = {}

    def request(self, body: dict[str, Any]) -> dict[str, Any]:
        functions, asked = body.get("functions"), body.get("function_call")
        body = {k: v for k, v in body.items() if not k.startswith("function")}
        body["messages"] = self._messages(body.get("messages") or [])
        if not functions:  # the last request of a conversation may offer none
            return body
        body |= {
            "tools": [{"type": "function", "function": f} for f in functions],
            "parallel_tool_calls": False,
        }
        if asked is not None:
            one = {"type": "function", "function": asked}
            body["tool_choice"] = one if isinstance(asked, dict) else asked
        return body

    def _messages(self, messages: list[Any]) -> list[Any]:
        """Give calls and their outputs the ids that the engine gave the calls."""
        translated: list[Any] = []
        before, last = 0, ""
        for message in messages:
            message = plain(message)
            call = message.get("function_call")
            if message.get("role") == "function":
                output = {"role": "tool", "tool_call_id": last}
                message = output | {"content": message.get("content")}
            elif call:
                named = named_call(call)
                last = self._ids.get((before, *named), f"call_{len(translated)}")
                calls = [{"id": last, "type": "function", "function": call}]
                message = {k: v for k, v in message.items() if k != "function_call"}
                message["tool_calls"] = calls
            translated.append(message)
            before = _after(before, message)
        return translated

    def note(self, request: Request, choices: Sequence[Any]) -> None:
        """Remember the ids of the calls in an answer; the agent will not."""
        before = 0
        for message in request.messages:
            before = _after(before, message)
        for choice in choices:
            for called in (choice.message.tool_calls or [])[:1]:
                named = named_call(plain(called.function))
                self._ids.setdefault((before, *named), called.id)

    def answer(self, choices: Sequence[Any]) -> None:
        """Turn a completion's tool calls into the function call that was asked for."""
        from openai.types.chat.chat_completion_message import FunctionCall

        for choice in choices:
            if not choice.message.tool_calls:
                continue
            called = choice.message.tool_calls[0]
            choice.message.function_call = FunctionCall.construct(
                name=called.function.name, arguments=called.function.arguments
            )
            choice.message.tool_calls = None
            choice.finish_reason = "function_call"

    def chunk(self, choice: Any) -> None:
        """Turn a chunk's tool calls into a function call, once it is recorded."""
        from openai.types.chat.chat_completion_chunk import ChoiceDeltaFunctionCall

        calls = choice.delta.tool_calls
        if calls and calls[0].function is not None:
            choice.delta.function_call = ChoiceDeltaFunctionCall.construct(
                name=calls[0].function.name, arguments=calls[0].function.arguments
            )
        if calls:
            choice.delta.tool_calls = None
        if choice.finish_reason == "tool_calls":
            choice.finish_reason = "function_call"


def _after(before: int, message: Any) -> int:
    """Hash a conversation: the hash of what came before, and its last message."""
    return hash((before, json.dumps(essence(message), default=str)))
