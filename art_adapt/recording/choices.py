"""Choices as the trajectory keeps them."""

from __future__ import annotations

import json
from typing import Any


def prompt_extras(completion: Any) -> dict[str, Any]:
    """Return the prompt's token ids, which vLLM puts on the response.

    ART reads them from the Choice (art 0.5.23, openai.py finalize_chat_completion).
    """
    prompt_token_ids = (completion.model_extra or {}).get("prompt_token_ids")
    return {} if prompt_token_ids is None else {"prompt_token_ids": prompt_token_ids}


def can_run(call: Any, tools: Any) -> bool:
    """Tell whether a call names a tool of the request and carries a JSON object."""
    called = getattr(call, "function", None)
    if called is None:  # a custom tool's: its input is any text
        return True
    offered = [(tool.get("function") or {}).get("name") for tool in tools or []]
    try:
        return called.name in offered and isinstance(
            json.loads(called.arguments or "{}"), dict
        )
    except (ValueError, RecursionError):
        return False


def share_parts(logprobs: Any) -> None:
    """Let tokens of logprobs share what they have in common, in their place.

    A token as the SDK makes it takes 870 bytes: a text and its bytes, which are the same
    wherever the token is sampled, an empty list, and the set of its fields. Shared, it
    takes 380.
    """
    for each in getattr(logprobs, "content", None) or ():
        held = each.__dict__
        token = held.get("token")
        if not isinstance(token, str) or held.get("top_logprobs"):
            continue
        text, spelled = _tokens.get(token, (token, held.get("bytes")))
        if text is token and len(_tokens) < MOST_TOKENS:
            _tokens[token] = (text, spelled)
        if spelled == held.get("bytes"):
            held |= {"token": text, "bytes": spelled}
        if held.get("top_logprobs") == []:
            held["top_logprobs"] = _NONE
        fields = _fields.setdefault(
            frozenset(each.model_fields_set), each.model_fields_set
        )
        object.__setattr__(each, "__pydantic_fields_set__", fields)


MOST_TOKENS = 300_000  # no vocabulary is larger
_tokens: dict[str, tuple[str, Any]] = {}
_fields: dict[frozenset[str], set[str]] = {}
_NONE: list[Any] = []


def choice_to_record(choice: Any, shared_extras: dict[str, Any]) -> Any:
    """Copy a choice as the plain ``Choice`` that ART looks for.

    The agent cannot change the copy. ``parse`` returns subclasses whose ``parsed``
    objects ART could not write to disk.
    """
    from openai.types.chat.chat_completion import Choice
    from openai.types.chat.chat_completion_message import ChatCompletionMessage

    message = choice.message.model_dump(
        mode="json", exclude_unset=True, exclude={"parsed"}, warnings=False
    )
    for call in message.get("tool_calls") or []:
        call.get("function", {}).pop("parsed_arguments", None)
    share_parts(choice.logprobs)
    extra = {**(choice.model_extra or {}), **shared_extras}
    return Choice.model_construct(
        finish_reason=choice.finish_reason,
        index=choice.index,
        logprobs=choice.logprobs,
        # Lenient, as the SDK itself is: an engine may leave out what it knows.
        message=ChatCompletionMessage.construct(**message),
        **extra,
    )
