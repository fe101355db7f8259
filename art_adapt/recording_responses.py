"""The Responses API in terms of chat completions, for agents that call it: what a model
in training is asked, and what the agent gets back.

Plain JSON in and out; nothing is sent here. ``Conversations`` is what OpenAI's servers
would keep of a rollout: which messages a ``previous_response_id`` stands for. Shapes of
items and events: openai 2.54, types/responses.

This file is a copy of ``art_adapt/recording_responses.py``, which ``art-adapt`` puts
beside ``art_recording.py`` where an agent calls ``responses.create``.
"""

from __future__ import annotations

import itertools
import json
import time
import uuid
from collections.abc import Iterator
from typing import Any

__all__ = ["Conversations", "Turn", "Untranslatable"]

Json = dict[str, Any]


class Untranslatable(ValueError):
    """The request asks for what only OpenAI's servers have."""


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
SERVER_STATE = {
    "background": "a response made in the background",
    "conversation": "a conversation that OpenAI keeps",
    "prompt": "a prompt template that OpenAI keeps",
}
CUSTOM_INPUT = "input"  # the one argument of a custom tool as a function


class Conversations:
    """The responses of one rollout, as far as later requests refer to them."""

    def __init__(self) -> None:
        self._messages: dict[str, tuple[Json, ...]] = {}
        self._known: dict[str, Json] = {}  # each message is kept once
        self._turn_of_call: dict[str, str] = {}

    def begin(self, body: Json) -> Turn:
        """The turn that a request (the body of ``POST /responses``) opens.

        Raises ``Untranslatable`` with what it is that chat completions do not have.
        """
        for name, what in SERVER_STATE.items():
            if body.get(name):
                raise Untranslatable(f"{name}= ({what})")
        given = body.get("input") or []
        items = (
            [{"role": "user", "content": given}] if isinstance(given, str) else given
        )
        messages = [*self._before(body), *self._messages_of(items)]
        return Turn(self, body, messages)

    def _before(self, body: Json) -> tuple[Json, ...]:
        previous = body.get("previous_response_id")
        if previous is None:
            return ()
        if previous not in self._messages:
            raise Untranslatable(
                f"previous_response_id={previous!r}, which is no stored response of "
                "this rollout"
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
        """Input items as messages: what a model said in one turn is one message
        again.
        """
        messages: list[Json] = []
        for item in items:
            if not isinstance(item, dict):
                raise Untranslatable(f"the input item {item!r}, which is no object")
            kind = item.get("type") or "message"
            if item.get("role") == "tool" or "tool_calls" in item:
                raise Untranslatable("a chat completion's message as an input item")
            if kind == "message" and item.get("role") != "assistant":
                messages.append(
                    {"role": item["role"], "content": _content(item.get("content"))}
                )
            elif kind in ("function_call_output", "custom_tool_call_output"):
                output = _content(item.get("output"))
                messages.append(
                    {
                        "role": "tool",
                        "tool_call_id": item["call_id"],
                        "content": output,
                    }
                )
            elif kind == "message":
                text, refusal = _said(item.get("content"))
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
                calling.setdefault("tool_calls", []).append(_call(item))
            else:
                raise Untranslatable(f"an input item of the type {kind}")
        return messages

    def _open(self, messages: list[Json], part: str) -> Json:
        """The assistant's message that a further ``part`` of its turn belongs to: a
        turn reasons, speaks and calls, in this order.
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
        """The message that made a call. Agents also write call, output, call, output:
        calls of one turn are one message all the same.
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


class Turn:
    """One request and its response. ``chat`` is the body for chat completions."""

    def __init__(
        self, conversations: Conversations, body: Json, messages: list[Json]
    ) -> None:
        self.id = _id("resp")
        self.body = body
        self.messages = messages
        self.created_at = time.time()
        self._conversations = conversations
        self.custom_tools = {
            tool["name"] for tool in body.get("tools") or [] if tool["type"] == "custom"
        }
        self.chat = self._chat()

    def _chat(self) -> Json:
        """The body of the same request to chat completions."""
        body = self.body
        instructions = body.get("instructions")
        system = [{"role": "system", "content": instructions}] if instructions else []
        chat: Json = {"model": body.get("model"), "messages": [*system, *self.messages]}
        chat |= {name: body[name] for name in SAME if body.get(name) is not None}
        if tools := body.get("tools"):
            allowed = _allowed(tools, body.get("tool_choice"))
            chat["tools"] = [_tool(tool) for tool in allowed]
            if (choice := body.get("tool_choice")) is not None:
                chat["tool_choice"] = _tool_choice(choice)
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
        """The Response for a chat completion."""
        choices = completion.get("choices") or []
        if not choices:
            return self._response([], completion.get("usage"), "stop")
        message = choices[0]["message"]
        output: list[Json] = []
        if text := message.get("reasoning_content") or message.get("reasoning"):
            output.append(self._reasoning(text))
        content: list[Json] = []
        if message.get("content"):
            logprobs = self._logprobs(choices[0].get("logprobs"))
            content.append(_text(message["content"], logprobs))
        if message.get("refusal"):
            content.append({"type": "refusal", "refusal": message["refusal"]})
        if content:
            output.append(_message(_id("msg"), content, "completed"))
        output += [self._call(call) for call in message.get("tool_calls") or []]
        self._conversations.keep(self, message)
        finish = choices[0].get("finish_reason")
        return self._response(output, completion.get("usage"), finish)

    def events(self) -> Events:
        """The events of a streamed response, to be fed the chunks of a completion."""
        return Events(self)

    def _response(
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
            "usage": _usage(usage) if done else None,
        }
        return response

    def _reasoning(self, text: str) -> Json:
        asked = (self.body.get("reasoning") or {}).get("summary")
        return {
            "id": _id("rs"),
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": text}] if asked else [],
            "content": [{"type": "reasoning_text", "text": text}],
        }

    def _call(self, call: Json) -> Json:
        function = call["function"]
        item = {
            "id": _id("fc"),
            "call_id": call["id"],
            "name": function["name"],
            "status": "completed",
        }
        if function["name"] in self.custom_tools:
            custom = _custom_input(function["arguments"])
            return {"type": "custom_tool_call", "input": custom, **item}
        return {"type": "function_call", "arguments": function["arguments"], **item}

    def _logprobs(self, logprobs: Json | None) -> list[Json]:
        asked = "message.output_text.logprobs" in (self.body.get("include") or [])
        return (logprobs or {}).get("content") or [] if asked else []


class Events:
    """The events of one streamed response: ``start``, a ``chunk`` at a time,
    ``end``.
    """

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._numbers = itertools.count()
        self._done: list[Json] = []
        self._item: Json | None = None  # the one that is being said
        self._call_index: int | None = None
        self._message: Json = {"role": "assistant", "content": None}
        self._finish: str | None = None
        self._usage: Json | None = None

    def start(self) -> Iterator[Json]:
        response = self._turn._response([], None, None)
        yield self._event("response.created", response=response)
        yield self._event("response.in_progress", response=response)

    def chunk(self, chunk: Json) -> Iterator[Json]:
        """What the next chunk of the completion says."""
        self._usage = chunk.get("usage") or self._usage
        for choice in chunk.get("choices") or []:
            if choice.get("index"):
                continue
            delta = choice.get("delta") or {}
            thought = delta.get("reasoning_content") or delta.get("reasoning")
            if thought:
                yield from self._say("reasoning", "reasoning_text", thought)
            if delta.get("content"):
                yield from self._say("message", "output_text", delta["content"])
            if delta.get("refusal"):
                yield from self._say("message", "refusal", delta["refusal"])
            for call in delta.get("tool_calls") or []:
                yield from self._call(call)
            self._finish = choice.get("finish_reason") or self._finish

    def end(self) -> Iterator[Json]:
        """The last events; the turn is noted with its conversation."""
        if self._finish is None:  # the engine broke off: there is no such response
            return
        yield from self._close()
        self._turn._conversations.keep(self._turn, self._message)
        response = self._turn._response(self._done, self._usage, self._finish)
        yield self._event(f"response.{response['status']}", response=response)

    def _event(self, kind: str, **fields: Any) -> Json:
        return {"type": kind, "sequence_number": next(self._numbers), **fields}

    def _at(self) -> Json:
        """Where an event of the item belongs that is being said."""
        assert self._item is not None
        return {"item_id": self._item["id"], "output_index": len(self._done)}

    def _begin(self, item: Json) -> Iterator[Json]:
        yield from self._close()
        self._item = item
        at = {"output_index": len(self._done)}
        yield self._event("response.output_item.added", item=_json_copy(item), **at)

    def _say(self, kind: str, part: str, text: str) -> Iterator[Json]:
        """More text of a message or of its reasoning."""
        key = {"reasoning_text": "reasoning_content", "output_text": "content"}
        name = key.get(part, "refusal")
        self._message[name] = (self._message.get(name) or "") + text
        if self._item is None or self._item["type"] != kind:
            empty: Json = {"id": _id("rs"), "type": kind, "summary": [], "content": []}
            if kind == "message":
                empty = _message(_id("msg"), [], "in_progress")
            yield from self._begin(empty)
        assert self._item is not None
        content = self._item["content"]
        if not content or content[-1]["type"] != part:
            if content:
                yield from self._part_done()
            content.append({"type": part, _text_key(part): ""})
            if part == "output_text":
                content[-1] |= {"annotations": [], "logprobs": []}
            yield self._event(
                "response.content_part.added",
                content_index=len(content) - 1,
                part=_json_copy(content[-1]),
                **self._at(),
            )
        content[-1][_text_key(part)] += text
        extra: Json = {"logprobs": []} if part == "output_text" else {}
        yield self._event(
            f"response.{part}.delta",
            content_index=len(content) - 1,
            delta=text,
            **extra,
            **self._at(),
        )

    def _call(self, delta: Json) -> Iterator[Json]:
        """More of a tool call; a custom tool's input is only known when it is whole."""
        function = delta.get("function") or {}
        if self._call_index != delta["index"] or self._item is None:
            self._call_index = delta["index"]
            name = function.get("name") or ""
            call = {"id": delta.get("id") or _id("call"), "type": "function"}
            call["function"] = {"name": name, "arguments": ""}
            self._message.setdefault("tool_calls", []).append(call)
            item = self._turn._call(call)
            yield from self._begin(item | {"status": "in_progress"})
        assert self._item is not None
        if more := function.get("arguments"):
            self._message["tool_calls"][-1]["function"]["arguments"] += more
            if self._item["type"] == "function_call":
                self._item["arguments"] += more
                yield self._event(
                    "response.function_call_arguments.delta", delta=more, **self._at()
                )

    def _part_done(self) -> Iterator[Json]:
        assert self._item is not None
        at = {"content_index": len(self._item["content"]) - 1, **self._at()}
        part = self._item["content"][-1]
        kind = part["type"]
        extra: Json = {"logprobs": []} if kind == "output_text" else {}
        said = {_text_key(kind): part[_text_key(kind)]}
        yield self._event(f"response.{kind}.done", **said, **extra, **at)
        yield self._event("response.content_part.done", part=_json_copy(part), **at)

    def _close(self) -> Iterator[Json]:
        """End the item that is being said."""
        item = self._item
        if item is None:
            return
        if item["type"] == "function_call":
            whole = {"arguments": item["arguments"], "name": item["name"]}
            yield self._event(
                "response.function_call_arguments.done", **whole, **self._at()
            )
        elif item["type"] == "custom_tool_call":
            last = self._message["tool_calls"][-1]["function"]["arguments"]
            item["input"] = _custom_input(last)
            yield self._event(
                "response.custom_tool_call_input.delta",
                delta=item["input"],
                **self._at(),
            )
            yield self._event(
                "response.custom_tool_call_input.done",
                input=item["input"],
                **self._at(),
            )
        elif item["content"]:
            yield from self._part_done()
        if item["type"] != "reasoning":
            item["status"] = "completed"
        elif (self._turn.body.get("reasoning") or {}).get("summary"):
            text = item["content"][-1]["text"]
            item["summary"] = [{"type": "summary_text", "text": text}]
        at = {"output_index": len(self._done)}
        yield self._event("response.output_item.done", item=_json_copy(item), **at)
        self._done.append(item)
        self._item = None


# ------------------------------------------------------------------------------- pieces


def _json_copy(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _id(prefix: str) -> str:
    return f"{prefix}_{uuid.uuid4().hex}"


def _text_key(part: str) -> str:
    return "refusal" if part == "refusal" else "text"


def _text(text: str, logprobs: list[Json]) -> Json:
    return {
        "type": "output_text",
        "text": text,
        "annotations": [],
        "logprobs": logprobs,
    }


def _message(id_: str, content: list[Json], status: str) -> Json:
    return {
        "id": id_,
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": content,
    }


def _usage(usage: Json | None) -> Json | None:
    if usage is None:
        return None
    details = usage.get("completion_tokens_details") or {}
    prompt_details = usage.get("prompt_tokens_details") or {}
    return {
        "input_tokens": usage.get("prompt_tokens", 0),
        "input_tokens_details": {
            "cached_tokens": prompt_details.get("cached_tokens") or 0,
            "cache_write_tokens": 0,
        },
        "output_tokens": usage.get("completion_tokens", 0),
        "output_tokens_details": {
            "reasoning_tokens": details.get("reasoning_tokens") or 0
        },
        "total_tokens": usage.get("total_tokens", 0),
    }


def _tool(tool: Json) -> Json:
    """A tool as chat completions know it. ``strict`` is how OpenAI samples, no part of
    what a model reads.
    """
    if tool["type"] == "function":
        if "name" not in tool:
            raise Untranslatable("a chat completion's tool, with a function inside")
        keys = ("name", "description", "parameters")
        function = {key: tool[key] for key in keys if tool.get(key) is not None}
        return {"type": "function", "function": function}
    if tool["type"] == "custom" and (tool.get("format") or {}).get("type") != "grammar":
        schema = {
            "type": "object",
            "properties": {CUSTOM_INPUT: {"type": "string"}},
            "required": [CUSTOM_INPUT],
        }
        function = {"name": tool["name"], "parameters": schema}
        if tool.get("description"):
            function["description"] = tool["description"]
        return {"type": "function", "function": function}
    raise Untranslatable(f"the tool {tool['type']}, which only OpenAI's servers have")


def _tool_choice(choice: Any) -> Any:
    if isinstance(choice, str):
        return choice
    if choice["type"] in ("function", "custom"):
        return {"type": "function", "function": {"name": choice["name"]}}
    if choice["type"] == "allowed_tools":
        return choice.get("mode", "auto")
    raise Untranslatable(f"tool_choice of the type {choice['type']}")


def _allowed(tools: list[Json], choice: Any) -> list[Json]:
    """The tools that ``tool_choice`` leaves."""
    if not isinstance(choice, dict) or choice["type"] != "allowed_tools":
        return tools
    names = {tool.get("name") for tool in choice["tools"]}
    return [tool for tool in tools if tool.get("name") in names]


def _call(item: Json) -> Json:
    """A call that the agent hands back, as the assistant's message holds it."""
    if item["type"] == "custom_tool_call":
        arguments = json.dumps({CUSTOM_INPUT: item["input"]})
    else:
        arguments = item["arguments"]
    return {
        "id": item["call_id"],
        "type": "function",
        "function": {"name": item["name"], "arguments": arguments},
    }


def _custom_input(arguments: str) -> str:
    """What the model put into the one argument of a custom tool."""
    try:
        value = json.loads(arguments)[CUSTOM_INPUT]
    except (ValueError, KeyError, TypeError):
        return arguments
    return value if isinstance(value, str) else json.dumps(value)


def _said(content: Any) -> tuple[str | None, str | None]:
    """Text and refusal of an assistant's message."""
    if content is None or isinstance(content, str):
        return content, None
    text = [part["text"] for part in content if "text" in part]
    refusal = [part["refusal"] for part in content if "refusal" in part]
    return "".join(text) if text else None, "".join(refusal) or None


def _content(content: Any) -> Any:
    """The content of a user's message or a tool's output; text alone as a string."""
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise Untranslatable(f"content that is neither text nor a list: {content!r}")
    parts = [_part(part) for part in content]
    if len(parts) == 1 and parts[0]["type"] == "text":
        return parts[0]["text"]
    return parts


def _part(part: Json) -> Json:
    kind = part.get("type")
    if kind in ("input_text", "output_text", "text"):
        return {"type": "text", "text": part["text"]}
    if kind == "input_image" and part.get("image_url"):
        image = {"url": part["image_url"]}
        if part.get("detail"):
            image["detail"] = part["detail"]
        return {"type": "image_url", "image_url": image}
    if kind == "input_audio":
        return {"type": "input_audio", "input_audio": part["input_audio"]}
    if kind == "input_image":
        raise Untranslatable("input_image by the id of a file that OpenAI keeps")
    raise Untranslatable(f"a content part of the type {kind}")
