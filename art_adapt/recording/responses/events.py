"""A streamed completion as the events of a streamed response."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from art_adapt.recording.responses.items import (
    custom_input,
    json_copy,
    new_id,
    output_message,
    text_key,
)
from art_adapt.recording.responses.turn import Turn

Json = dict[str, Any]


class Events:
    """Write the events of one streamed response: ``start``, each ``chunk``, ``end``."""

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
        response = self._turn.as_response([], None, None)
        yield self._event("response.created", response=response)
        yield self._event("response.in_progress", response=response)

    def chunk(self, chunk: Json) -> Iterator[Json]:
        """Yield the events of the completion's next chunk."""
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
        """Yield the last events, and note the turn with its conversation."""
        if self._finish is None:  # the engine broke off: there is no such response
            return
        yield from self._close()
        self._turn.keep(self._message)
        response = self._turn.as_response(self._done, self._usage, self._finish)
        yield self._event(f"response.{response['status']}", response=response)

    def _event(self, kind: str, **fields: Any) -> Json:
        return {"type": kind, "sequence_number": next(self._numbers), **fields}

    def _at(self) -> Json:
        """Return the fields that place an event at the current item."""
        assert self._item is not None
        return {"item_id": self._item["id"], "output_index": len(self._done)}

    def _begin(self, item: Json) -> Iterator[Json]:
        yield from self._close()
        self._item = item
        at = {"output_index": len(self._done)}
        yield self._event("response.output_item.added", item=json_copy(item), **at)

    def _say(self, kind: str, part: str, text: str) -> Iterator[Json]:
        """Yield the events of more text of a message or of its reasoning."""
        key = {"reasoning_text": "reasoning_content", "output_text": "content"}
        name = key.get(part, "refusal")
        self._message[name] = (self._message.get(name) or "") + text
        if self._item is None or self._item["type"] != kind:
            empty: Json = {
                "id": new_id("rs"),
                "type": kind,
                "summary": [],
                "content": [],
            }
            if kind == "message":
                empty = output_message(new_id("msg"), [], "in_progress")
            yield from self._begin(empty)
        assert self._item is not None
        content = self._item["content"]
        if not content or content[-1]["type"] != part:
            if content:
                yield from self._part_done()
            content.append({"type": part, text_key(part): ""})
            if part == "output_text":
                content[-1] |= {"annotations": [], "logprobs": []}
            yield self._event(
                "response.content_part.added",
                content_index=len(content) - 1,
                part=json_copy(content[-1]),
                **self._at(),
            )
        content[-1][text_key(part)] += text
        extra: Json = {"logprobs": []} if part == "output_text" else {}
        yield self._event(
            f"response.{part}.delta",
            content_index=len(content) - 1,
            delta=text,
            **extra,
            **self._at(),
        )

    def _call(self, delta: Json) -> Iterator[Json]:
        """Yield the events of more of a tool call.

        A custom tool's input is known only when the call is complete.
        """
        function = delta.get("function") or {}
        if self._call_index != delta["index"] or self._item is None:
            self._call_index = delta["index"]
            name = function.get("name") or ""
            call = {"id": delta.get("id") or new_id("call"), "type": "function"}
            call["function"] = {"name": name, "arguments": ""}
            self._message.setdefault("tool_calls", []).append(call)
            item = self._turn.call_item(call)
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
        said = {text_key(kind): part[text_key(kind)]}
        yield self._event(f"response.{kind}.done", **said, **extra, **at)
        yield self._event("response.content_part.done", part=json_copy(part), **at)

    def _close(self) -> Iterator[Json]:
        """Yield the events that end the current item."""
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
            item["input"] = custom_input(last)
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
        yield self._event("response.output_item.done", item=json_copy(item), **at)
        self._done.append(item)
        self._item = None
