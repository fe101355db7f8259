"""Messages as plain JSON: copied before an agent can change them, compared, stored."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any


def message_of(choice: Any) -> dict[str, Any]:
    message: dict[str, Any] = choice.message.model_dump(mode="json", exclude_none=True)
    return message


def essence(message: Any) -> Any:
    """Return the parts of a message that a chat template can render.

    Agents spell the rest differently from turn to turn. Missing and empty content are
    the same, null keys count as absent, tool arguments are compared as JSON in their
    order, and of an assistant message only text and tool calls matter.
    """
    message = plain(message)
    if not isinstance(message, dict):
        return message
    content = message.get("content") or ""
    if (
        isinstance(content, list)
        and len(content) == 1
        and isinstance(content[0], dict)
        and set(content[0]) == {"type", "text"}
    ):
        content = content[0]["text"]
    calls = [
        (call.get("id"), *named_call(call.get("function") or call.get("custom") or {}))
        for call in message.get("tool_calls") or []
    ]
    essence: list[Any] = [message.get("role"), content, calls]
    if message.get("role") == "assistant":
        function = message.get("function_call") or {}
        return [
            *essence,
            message.get("refusal"),
            function.get("name"),
            canonical_json(function.get("arguments")),
        ]
    return [*essence, message.get("name"), message.get("tool_call_id")]


def named_call(call: dict[str, Any]) -> tuple[Any, Any]:
    return call.get("name"), canonical_json(call.get("arguments", call.get("input")))


def canonical_json(text: Any) -> Any:
    try:
        return json.dumps(json.loads(text))
    except (TypeError, ValueError):
        return text


def plain(value: Any) -> Any:
    """Copy a value in plain JSON types, as the SDK sends it.

    It dumps models with exclude_unset (openai/_utils/_transform.py).
    """
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_unset=True)
    return value


def plain_copy(value: Any) -> Any:
    """Copy a value of JSON's own types, dicts and lists of text, numbers, bools and None.

    Raises:
        TypeError: it holds anything else, a subclass of these too.
    """
    kind = type(value)
    if kind is dict:
        return {
            key: item if type(item) is str else plain_copy(item)
            for key, item in value.items()
        }
    if kind is list:
        return [plain_copy(item) for item in value]
    if kind in _ATOMS:
        return value
    raise TypeError(f"{kind.__name__} is not a JSON type")


_ATOMS = {str, int, float, bool, type(None)}


def storable(value: Any, annotation: Any) -> Any:
    """Copy ``value`` so that ART can write it as JSON under ``annotation``.

    What cannot be written as it is becomes text; otherwise ART would end the step.
    """
    import pydantic

    adapter = pydantic.TypeAdapter(annotation)
    for candidate in (copy.deepcopy, as_json, str):
        with suppress(Exception):
            stored = candidate(value)
            adapter.dump_json(stored, warnings="error")
            return stored
    return None


def as_json(value: Any) -> str:
    return json.dumps(plain(value), ensure_ascii=False)
