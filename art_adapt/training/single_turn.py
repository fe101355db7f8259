"""Trains single completions on recorded requests, for agents that cannot be replayed."""

from __future__ import annotations

from typing import Any

import openai

from art_adapt.recording import RecordingError
from art_adapt.recording.hooked import recorded
from art_adapt.recording.listening import Listener
from art_adapt.recording.messages import message_of
from art_adapt.recording.state import active
from art_adapt.scenarios.rows import RecordedRequest
from art_adapt.training.episodes import policy_endpoint

Json = dict[str, Any]


def complete(request: RecordedRequest) -> Json:
    """Let the model of this episode answer a recorded request; return its message.

    Raises:
        RecordingError: no rollout is active in this task or thread, or the production
            model is to answer, and the row does not name it.
    """
    if not request.model and isinstance(active.get(), Listener):
        raise RecordingError(
            "the production model is unknown: the row of this scenario has no `model`. "
            "Add it to the rows, or evaluate with --no-production"
        )
    client = openai.OpenAI(**policy_endpoint())
    asked: Json = {"model": request.model, "messages": request.messages}
    if request.tools:
        asked["tools"] = request.tools
    create: Any = recorded(client.chat.completions.create, "complete")
    return message_of(create(**asked).choices[0])
