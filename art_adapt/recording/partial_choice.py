"""One choice of a stream, put together from its chunks."""

from __future__ import annotations

from typing import Any


class PartialChoice:
    """One choice of a stream, as far as it has arrived."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.text: dict[str, str] = {}  # content, refusal, reasoning_content, ...
        self.calls: list[tuple[int, dict[str, Any]]] = []  # with the index of each
        self.function_call: dict[str, str] = {}
        self.logprobs: dict[str, list[Any]] = {}
        self.token_ids: list[int] = []
        self.finish_reason: str | None = None

    def add(self, choice: Any) -> None:
        self.finish_reason = choice.finish_reason or self.finish_reason
        self.token_ids += (choice.model_extra or {}).get("token_ids") or []
        for name in ("content", "refusal"):
            tokens = getattr(choice.logprobs, name, None)
            if tokens:
                self.logprobs.setdefault(name, []).extend(tokens)
        delta = getattr(choice, "delta", None)
        if delta is None:  # of servers that end a stream without one
            return
        for name in ("content", "refusal", *(delta.model_extra or {})):
            value = getattr(delta, name, None)
            if isinstance(value, str):
                self.text[name] = self.text.get(name, "") + value
        for call in delta.tool_calls or []:
            known = self._call(call)
            known["id"] = call.id or known["id"]
            if call.function is not None:
                known["function"]["name"] += call.function.name or ""
                known["function"]["arguments"] += call.function.arguments or ""
        if delta.function_call is not None:
            for name in ("name", "arguments"):
                self.function_call[name] = self.function_call.get(name, "") + (
                    getattr(delta.function_call, name) or ""
                )

    def _call(self, call: Any) -> dict[str, Any]:
        """Return the tool call that a delta goes on with, or a new one.

        Servers that give each call the same index, or none, give it an id and a name.
        """
        index = getattr(call, "index", None)
        same = [each for _, each in self.calls if call.id and each["id"] == call.id]
        known = same or [each for at, each in self.calls if index in (at, None)]
        name = None if call.function is None else call.function.name
        begins = bool(call.id and name) and bool(known) and call.id != known[-1]["id"]
        if known and not begins:
            return known[-1]
        function = {"name": "", "arguments": ""}
        new = {"id": "", "type": "function", "function": function}
        last = max((at for at, _ in self.calls), default=-1)
        self.calls.append((last + 1 if index is None else index, new))
        return new

    def is_empty(self) -> bool:
        """Tell whether nothing of the choice has arrived yet."""
        said = self.text or self.calls or self.function_call or self.token_ids
        return self.finish_reason is None and not said

    def message(self) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": None, **self.text}
        if self.calls:
            ordered = sorted(self.calls, key=lambda each: each[0])
            message["tool_calls"] = [call for _, call in ordered]
        if self.function_call:
            message["function_call"] = self.function_call
        return message

    def choice(self) -> Any:
        from openai.types.chat.chat_completion import Choice, ChoiceLogprobs
        from openai.types.chat.chat_completion_message import ChatCompletionMessage

        extra: dict[str, Any] = {"token_ids": self.token_ids} if self.token_ids else {}
        if self.finish_reason is None:
            extra["cut"] = True
        return Choice.model_construct(
            finish_reason=self.finish_reason or "length",
            index=self.index,
            logprobs=(
                ChoiceLogprobs.model_construct(None, **self.logprobs)
                if self.logprobs
                else None
            ),
            message=ChatCompletionMessage.construct(**self.message()),
            **extra,
        )
