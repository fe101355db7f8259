"""What OpenAI's servers would keep of a rollout: the messages behind a response's id."""

from __future__ import annotations

import json
from typing import Any

from art_adapt.calls import SERVER_STATE
from art_adapt.recording.responses.items import chat_call, chat_content, said_in
from art_adapt.recording.responses.turn import Turn
from art_adapt.recording.responses.untranslatable import Untranslatable

Json = dict[str, Any]


class Conversations:
    """The responses of one rollout that later requests can refer to."""

    def __init__(self) -> None:
        self._messages: dict[str, tuple[Json, ...]] = {}
        self._known: dict[str, Json] = {}  # each message is kept once
        self._turn_of_call: dict[str, str] = {}

    def begin(self, body: Json) -> Turn:
        """Open the turn of a request, given the body of ``POST /responses``.

        Raises:
            Untranslatable: the request needs a feature that chat completions do not have.
        """
        for name, what in SERVER_STATE.items():
            if body.get(name):
                raise Untranslatable(f"{name}= ({what})")
        given = body.get("input") or []
        items = (
            [{"role": "user", "content": given}] if isinstance(given, str) else given
        )
        messages = [*self._before(body), *self._messages_of(items)]
        return Turn(body, messages, self.keep)

    def _before(self, body: Json) -> tuple[Json, ...]:
        previous = body.get("previous_response_id")
        if previous is None:
            return ()
        if previous not in self._messages:
            raise Untranslatable(
                f"previous_response_id={previous!r}, which is not a stored response of "
                "this rollout (no episode can continue the conversation of another one)"
            )
        return self._messages[previous]

    def keep(self, turn: Turn, message: Json) -> None:
        """Note how a turn ended, for requests that name it."""
        for call in message.get("tool_calls") or []:
            self._turn_of_call[call["id"]] = turn.id
        if turn.body.get("store") is not False:
            self._messages[turn.id] = tuple(
                self._known.setdefault(json.dumps(m, sort_keys=True), m)
                for m in (*turn.messages, message)
            )

    def _messages_of(self, items: list[Json]) -> list[Json]:
        """Turn input items into messages; those of one turn become one message."""
        messages: list[Json] = []
        for item in items:
            if not isinstance(item, dict):
                raise Untranslatable(f"the input item {item!r}, which is not an object")
            kind = item.get("type") or "message"
            if item.get("role") == "tool" or "tool_calls" in item:
                raise Untranslatable("a chat completion's message as an input item")
            if kind == "message" and item.get("role") != "assistant":
                messages.append(
                    {"role": item["role"], "content": chat_content(item.get("content"))}
                )
            elif kind in ("function_call_output", "custom_tool_call_output"):
                output = chat_content(item.get("output"))
                messages.append(
                    {
                        "role": "tool",
                        "tool_call_id": item["call_id"],
                        "content": output,
                    }
                )
            elif kind == "message":
                text, refusal = said_in(item.get("content"))
                message = self._open(messages, "content")
                message["content"] = text
                if refusal:
                    message["refusal"] = refusal
            elif kind == "reasoning":
                parts = item.get("content") or item.get("summary") or []
                if text := "".join(part["text"] for part in parts):
                    thought = self._open(messages, "reasoning_content")
                    thought["reasoning_content"] = text
            elif kind in ("function_call", "custom_tool_call"):
                calling = self._calling(messages, item["call_id"])
                calling.setdefault("tool_calls", []).append(chat_call(item))
            else:
                raise Untranslatable(f"an input item of the type {kind}")
        return messages

    def _open(self, messages: list[Json], part: str) -> Json:
        """Return the assistant's message that a ``part`` of its turn belongs to.

        A turn reasons, speaks and calls, in this order.
        """
        last = messages[-1] if messages else {}
        order = ("reasoning_content", "content", "tool_calls")
        if part == "content" and last.get("tool_calls") and not last.get("content"):
            return last  # agents also hand the text back behind the calls
        said = [name for name in order if last.get(name) is not None]
        if last.get("role") != "assistant" or (
            said and order.index(said[-1]) >= order.index(part)
        ):
            last = {"role": "assistant", "content": None}
            messages.append(last)
        return last

    def _calling(self, messages: list[Json], call_id: str) -> Json:
        """Return the message that made a call.

        Agents also write call, output, call, output: calls of one turn are one message
        all the same.
        """
        turn = self._turn_of_call.get(call_id)
        for message in reversed(messages):
            if message["role"] == "assistant":
                calls = message.get("tool_calls") or []
                own = {self._turn_of_call.get(call["id"]) for call in calls}
                if message is messages[-1] or (turn is not None and turn in own):
                    return message
                break
            if message["role"] != "tool":
                break
        messages.append({"role": "assistant", "content": None})
        return messages[-1]
