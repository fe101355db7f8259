"""One request to /responses as a chat completion, and its answer as a Response."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from art_adapt.recording.responses.items import (
    custom_input,
    new_id,
    output_message,
    output_text,
    usage_of,
)
from art_adapt.recording.responses.tools import (
    allowed_tools,
    chat_tool,
    chat_tool_choice,
)

Json = dict[str, Any]

# Arguments with the same meaning for both APIs. What is named nowhere here (store,
# include, metadata, service_tier, ...) does not change what a model says.
SAME = (
    "frequency_penalty",
    "parallel_tool_calls",
    "presence_penalty",
    "seed",
    "temperature",
    "top_logprobs",
    "top_p",
)


class Turn:
    """One request and its response; ``chat`` is the body for chat completions."""

    def __init__(
        self,
        body: Json,
        messages: list[Json],
        keep: Callable[[Turn, Json], None],
    ) -> None:
        self.id = new_id("resp")
        self.body = body
        self.messages = messages
        self.created_at = time.time()
        self._keep = keep
        self.custom_tools = {
            tool["name"] for tool in body.get("tools") or [] if tool["type"] == "custom"
        }
        self.chat = self._chat()

    def _chat(self) -> Json:
        """Return the body of the same request to chat completions."""
        body = self.body
        instructions = body.get("instructions")
        system = [{"role": "system", "content": instructions}] if instructions else []
        chat: Json = {"model": body.get("model"), "messages": [*system, *self.messages]}
        chat |= {name: body[name] for name in SAME if body.get(name) is not None}
        if tools := body.get("tools"):
            allowed = allowed_tools(tools, body.get("tool_choice"))
            chat["tools"] = [chat_tool(tool) for tool in allowed]
            if (choice := body.get("tool_choice")) is not None:
                chat["tool_choice"] = chat_tool_choice(choice)
        if body.get("max_output_tokens") is not None:
            chat["max_completion_tokens"] = body["max_output_tokens"]
        text_format = (body.get("text") or {}).get("format") or {"type": "text"}
        if text_format["type"] == "json_schema":
            schema = {key: text_format[key] for key in text_format if key != "type"}
            chat["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif text_format["type"] != "text":
            chat["response_format"] = text_format
        if body.get("stream"):
            chat |= {"stream": True, "stream_options": {"include_usage": True}}
        return chat

    # -- the answer

    def response(self, completion: Json) -> Json:
        """Return the Response that a chat completion makes."""
        choices = completion.get("choices") or []
        if not choices:
            return self.as_response([], completion.get("usage"), "stop")
        message = choices[0]["message"]
        output: list[Json] = []
        if text := message.get("reasoning_content") or message.get("reasoning"):
            output.append(self._reasoning(text))
        content: list[Json] = []
        if message.get("content"):
            logprobs = self._logprobs(choices[0].get("logprobs"))
            content.append(output_text(message["content"], logprobs))
        if message.get("refusal"):
            content.append({"type": "refusal", "refusal": message["refusal"]})
        if content:
            output.append(output_message(new_id("msg"), content, "completed"))
        output += [self.call_item(call) for call in message.get("tool_calls") or []]
        self.keep(message)
        finish = choices[0].get("finish_reason")
        return self.as_response(output, completion.get("usage"), finish)

    def keep(self, message: Json) -> None:
        """Note the message that ended this turn, for requests that name it."""
        self._keep(self, message)

    def as_response(
        self, output: list[Json], usage: Json | None, finish: str | None
    ) -> Json:
        cut = {"length": "max_output_tokens", "content_filter": "content_filter"}
        reason = cut.get(finish or "")
        done = finish is not None
        status = "incomplete" if reason else "completed" if done else "in_progress"
        body = self.body
        response: Json = {
            "id": self.id,
            "object": "response",
            "created_at": self.created_at,
            "status": status,
            "error": None,
            "incomplete_details": {"reason": reason} if reason else None,
            "instructions": body.get("instructions"),
            "max_output_tokens": body.get("max_output_tokens"),
            "metadata": body.get("metadata") or {},
            "model": body.get("model"),
            "output": output,
            "parallel_tool_calls": body.get("parallel_tool_calls", True),
            "previous_response_id": body.get("previous_response_id"),
            "reasoning": body.get("reasoning") or {"effort": None, "summary": None},
            "store": body.get("store", True),
            "temperature": body.get("temperature", 1.0),
            "text": body.get("text") or {"format": {"type": "text"}},
            "tool_choice": body.get("tool_choice", "auto"),
            "tools": body.get("tools") or [],
            "top_p": body.get("top_p", 1.0),
            "truncation": body.get("truncation", "disabled"),
            "usage": usage_of(usage) if done else None,
        }
        return response

    def _reasoning(self, text: str) -> Json:
        asked = (self.body.get("reasoning") or {}).get("summary")
        return {
            "id": new_id("rs"),
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": text}] if asked else [],
            "content": [{"type": "reasoning_text", "text": text}],
        }

    def call_item(self, call: Json) -> Json:
        function = call["function"]
        item = {
            "id": new_id("fc"),
            "call_id": call["id"],
            "name": function["name"],
            "status": "completed",
        }
        if function["name"] in self.custom_tools:
            custom = custom_input(function["arguments"])
            return {"type": "custom_tool_call", "input": custom, **item}
        return {"type": "function_call", "arguments": function["arguments"], **item}

    def _logprobs(self, logprobs: Json | None) -> list[Json]:
        asked = "message.output_text.logprobs" in (self.body.get("include") or [])
        return (logprobs or {}).get("content") or [] if asked else []
