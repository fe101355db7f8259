"""A request as every engine and chat template takes it."""

from __future__ import annotations

from typing import Any

from art_adapt.recording.state import say_once

# Arguments that only OpenAI's own service knows; engines ignore or refuse them.
_OPENAI_ONLY = {
    "audio",
    "metadata",
    "modalities",
    "moderation",
    "prediction",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning_effort",
    "safety_identifier",
    "service_tier",
    "store",
    "user",
    "verbosity",
    "web_search_options",
}

SAMPLING_ARGUMENTS = {
    "frequency_penalty",
    "logit_bias",
    "min_p",
    "presence_penalty",
    "repetition_penalty",
    "seed",
    "temperature",
    "top_k",
    "top_p",
}
SAMPLING = (
    "the agent samples with temperature={temperature}, top_p={top_p}. ART trains on "
    "logprobs at temperature 1; with other values the policy ratio is wrong from the first "
    "step. Sample with temperature=1, top_p=1 while training."
)


def whole_body(body: dict[str, Any], options: Any) -> dict[str, Any]:
    """Return a request's body with the agent's ``extra_body``, as the SDK sends it."""
    return {**body, **(options.get("extra_json") or {})}


def with_most_tokens(body: dict[str, Any], most: int) -> dict[str, Any]:
    """Return the request for a completion of at most ``most`` tokens, or of fewer."""
    asked = [name for name in ("max_tokens", "max_completion_tokens") if body.get(name)]
    bounds = {name: min(body[name], most) for name in asked}
    return {**body, **(bounds or {"max_tokens": most})}


def for_any_engine(body: dict[str, Any]) -> dict[str, Any]:
    """Return the request as every engine and chat template takes it."""
    dropped = [name for name in _OPENAI_ONLY if name in body]
    if dropped:
        body = {name: value for name, value in body.items() if name not in dropped}
        say_once(
            f"left out in training, because only OpenAI's service accepts it: "
            f"{', '.join(sorted(dropped))}"
        )
    body["messages"] = [
        _for_any_template(m) if _needs_change(m) else m
        for m in body.get("messages") or []
    ]
    if body.get("tools"):
        body["tools"] = [_explicit_tool(tool) for tool in body["tools"]]
    return body


def _needs_change(message: Any) -> bool:
    return message.get("role") == "developer" or type(message.get("content")) is list


def _for_any_template(message: Any) -> Any:
    if message.get("role") == "developer":
        say_once(
            "the role developer becomes system in training, because open models' chat templates "
            "drop roles that they do not know"
        )
        message = {**message, "role": "system"}
    content = message.get("content")
    if (
        isinstance(content, list)
        and content
        and all(set(part) == {"type", "text"} for part in content)
    ):
        # As vLLM joins them for templates that want text; ART 0.5.18 would not.
        message = {**message, "content": "\n".join(part["text"] for part in content)}
    return message


def _explicit_tool(tool: Any) -> Any:
    """Return a tool with all its keys, in vLLM's order.

    vLLM renders missing keys as null, ART leaves them out.
    """
    function = tool.get("function")
    if tool.get("type") != "function" or not isinstance(function, dict):
        return tool
    named = {
        "name": function.get("name"),
        "description": function.get("description") or "",
        "parameters": function.get("parameters")
        or {"type": "object", "properties": {}},
    }
    rest = {
        key: value for key, value in tool.items() if key not in ("type", "function")
    }
    return {"type": "function", "function": {**named, **function, **named}, **rest}
