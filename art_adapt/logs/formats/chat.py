"""Chat logs: rows with ``messages``, requests of OpenAI's batch API, requests and responses."""

from __future__ import annotations

from typing import Any

from art_adapt.logs.entry import Entry, Request, request_of

NAME = "chat"


def read(row: dict[str, Any]) -> Entry | None:
    """Read a row whose ``messages`` are at its top, or those of its request.

    The request may stand under ``body``, ``request`` or ``kwargs``, the answer under
    ``response``, ``completion`` or ``output``. Where neither is there, and the last message
    is an assistant's, that is the answer, as in files for fine-tuning.
    """
    if row.get("object") == "chat.completion":
        return None
    answer = next((row[key] for key in _ANSWERS if row.get(key)), None)
    requests = (request_of(row.get(key), answer) for key in _REQUESTS)
    request = next((r for r in requests if r), None) or request_of(row, answer)
    if request is None:
        return None
    last = request.messages[-1]
    if request.answer is None and last["role"] == "assistant" and request.messages[1:]:
        request = Request(request.messages[:-1], request.tools, request.model, last)
    return Entry(at=str(row.get("at") or row.get("timestamp") or ""), request=request)


_REQUESTS = ("body", "request", "kwargs")
_ANSWERS = ("response", "completion", "output")
