"""Input and output items of the Responses API, in terms of messages."""

from __future__ import annotations

import json
import uuid
from typing import Any

from art_adapt.recording.responses.untranslatable import Untranslatable

Json = dict[str, Any]
CUSTOM_INPUT = "input"  # the one argument of a custom tool as a function


def json_copy(value: Any) -> Any:
    return json.loads(json.dumps(value))


def new_id(prefix: str) -> str:
    return f"{prefix}_{uuid.uuid4().hex}"


def text_key(part: str) -> str:
    return "refusal" if part == "refusal" else "text"


def output_text(text: str, logprobs: list[Json]) -> Json:
    return {
        "type": "output_text",
        "text": text,
        "annotations": [],
        "logprobs": logprobs,
    }


def output_message(id_: str, content: list[Json], status: str) -> Json:
    return {
        "id": id_,
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": content,
    }


def usage_of(usage: Json | None) -> Json | None:
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


def chat_call(item: Json) -> Json:
    """Return a call that the agent hands back, as the assistant's message holds it."""
    if item["type"] == "custom_tool_call":
        arguments = json.dumps({CUSTOM_INPUT: item["input"]})
    else:
        arguments = item["arguments"]
    return {
        "id": item["call_id"],
        "type": "function",
        "function": {"name": item["name"], "arguments": arguments},
    }


def custom_input(arguments: str) -> str:
    """Return what the model put into the one argument of a custom tool."""
    try:
        value = json.loads(arguments)[CUSTOM_INPUT]
    except (ValueError, KeyError, TypeError):
        return arguments
    return value if isinstance(value, str) else json.dumps(value)


def said_in(content: Any) -> tuple[str | None, str | None]:
    """Return the text and the refusal of an assistant's message."""
    if content is None or isinstance(content, str):
        return content, None
    text = [part["text"] for part in content if "text" in part]
    refusal = [part["refusal"] for part in content if "refusal" in part]
    return "".join(text) if text else None, "".join(refusal) or None


def chat_content(content: Any) -> Any:
    """Return the content of a user's message or tool output; text alone as a string."""
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
