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
    extra = {**(choice.model_extra or {}), **shared_extras}
    return Choice.model_construct(
        finish_reason=choice.finish_reason,
        index=choice.index,
        logprobs=choice.logprobs,
        # Lenient, as the SDK itself is: an engine may leave out what it knows.
        message=ChatCompletionMessage.construct(**message),
        **extra,
    )
