"""Trains single completions on recorded requests, for agents that cannot be replayed."""

from __future__ import annotations

from typing import Any

import openai
import pydantic

from art_adapt.recording import RecordingError
from art_adapt.recording.hooked import recorded
from art_adapt.recording.listening import Listener
from art_adapt.recording.messages import message_of
from art_adapt.recording.state import active
from art_adapt.training.episodes import policy_endpoint
from art_adapt.training.scenarios import Scenario

Json = dict[str, Any]


class RecordedRequest(Scenario):
    """A request that an agent has made, as chat logs and fine-tuning files hold it.

    Attributes:
        messages: up to the completion. Where a row's last message is an assistant's,
            that is the ``reference``.
        tools: that the request offered. None of them runs.
        model: that was asked; only ``evaluate`` needs it, for the production model.
        reference: the completion that the request got, if it is known: a judge is shown
            it, and a reward function can compare with it.
    """

    messages: list[Json] = pydantic.Field(min_length=1)
    tools: list[Json] | None = None
    model: str = ""
    reference: Any = None

    @pydantic.model_validator(mode="before")
    @classmethod
    def _answered(cls, row: Any) -> Any:
        """Take a row's own answer off its messages."""
        messages = row.get("messages") if isinstance(row, dict) else None
        if not isinstance(messages, list) or not messages:
            return row
        last = messages[-1]
        if not isinstance(last, dict) or last.get("role") != "assistant":
            return row
        return {"reference": last, **row, "messages": messages[:-1]}


def complete(request: RecordedRequest) -> Json:
    """Let the model of this episode answer a recorded request; return its message.

    Raises:
        RecordingError: no rollout is active in this task or thread, or the production
            model is to answer, and the row does not name it.
    """
    if not request.model and isinstance(active.get(), Listener):
        raise RecordingError(
            "the production model cannot be asked: a scenario's row names no `model`. "
            "Add it to the rows, or evaluate with --no-production"
        )
    client = openai.OpenAI(**policy_endpoint())
    asked: Json = {"model": request.model, "messages": request.messages}
    if request.tools:
        asked["tools"] = request.tools
    create: Any = recorded(client.chat.completions.create, "complete")
    return message_of(create(**asked).choices[0])
