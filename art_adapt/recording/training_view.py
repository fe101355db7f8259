"""Trajectory groups as ``backend.train`` must get them."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from typing import Any, TypeVar

from art_adapt.recording.exactness import reads_token_ids
from art_adapt.recording.histories import new_history
from art_adapt.recording.messages import message_of

T = TypeVar("T")


def for_training(groups: Sequence[T]) -> list[T]:
    """Return the groups as ``backend.train`` must get them to train token for token.

    ART 0.5.23 reads token ids: it gets the groups as they are. ART 0.5.18 renders
    messages anew and splices the sampled tokens in (preprocessing/tokenize.py): it gets
    copies, see ``_as_rendered``. The tools' keys are in vLLM's order if the model has
    ``_internal_config={"chat_template_tool_schema_format": "vllm_openai"}``.
    """
    return [_group_for_training(group) for group in groups]


def _group_for_training(group: Any) -> Any:
    if all(reads_token_ids(trajectory) for trajectory in group.trajectories):
        return group
    copied = copy.copy(group)
    copied.trajectories = [_for_rendering(t) for t in group.trajectories]
    return copied


def _for_rendering(trajectory: Any) -> Any:
    whole = [trajectory, *trajectory.additional_histories]
    parts = [
        new_history(trajectory, history.tools, items)
        for history in whole
        for items in _as_rendered(history.messages_and_choices)
    ]
    first = parts[0].messages_and_choices if parts else []
    return trajectory.model_copy(
        update={"messages_and_choices": first, "additional_histories": parts[1:]}
    )


def _as_rendered(items: Sequence[Any]) -> list[list[Any]]:
    """Return the histories that ART 0.5.18 renders as the engine did.

    It would render a turn that calls tools twice, as sampled and from its
    ``tool_calls``; only in the last turn does it avoid that itself. And where the
    engine rendered an earlier turn differently from what it had sampled, the rest
    continues from messages, not from sampled tokens: it becomes a history of its own.
    """
    histories: list[list[Any]] = [[]]
    last, place = None, 0  # the last choice, and where it stands in its history
    for at, item in enumerate(items):
        if isinstance(item, dict):
            histories[-1].append(_as_template_reads(item))
            continue
        if (item.model_extra or {}).get("rendered_anew"):
            earlier = [e if isinstance(e, dict) else message_of(e) for e in items[:at]]
            histories.append([_as_template_reads(message) for message in earlier])
        elif last is not None:
            histories[-1][place] = _without_calls(last)
        last, place = item, len(histories[-1])
        histories[-1].append(item)
    return histories


def _without_calls(choice: Any) -> Any:
    message = choice.message.model_copy(
        update={"tool_calls": None, "content": choice.message.content or ""}
    )
    return choice.model_copy(update={"message": message})


def _as_template_reads(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message as vLLM hands it to the chat template.

    That is text, and arguments spelled by the template (vllm,
    entrypoints/chat_utils.py).
    """
    if message.get("role") != "assistant":
        return message
    calls = [
        {**call, "function": {**call["function"], "arguments": _spelled(call)}}
        for call in message.get("tool_calls") or []
        if "function" in call
    ]
    text = {**message, "content": message.get("content") or ""}
    return {**text, "tool_calls": calls} if calls else text


def _spelled(call: dict[str, Any]) -> str:
    arguments = call["function"].get("arguments") or "{}"
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False)
    except (TypeError, ValueError):
        return str(arguments)
