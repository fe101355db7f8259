"""OpenAI's stored completions: what ``client.chat.completions.list()`` returns."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from art_adapt.logs.entry import Entry, request_of

NAME = "OpenAI stored completions"


def read(row: dict[str, Any]) -> Entry | None:
    """Read a completion.

    The API lists completions without their messages, which are a request of their own,
    ``client.chat.completions.messages.list(id)`` (openai 2.x, resources/chat/completions);
    they are read from ``messages`` or ``input``.
    """
    if row.get("object") != "chat.completion":
        return None
    messages = row.get("messages") or row.get("input")
    asked = {"messages": messages, "tools": row.get("tools"), "model": row.get("model")}
    created = row.get("created")
    return Entry(
        at=datetime.fromtimestamp(float(created), UTC).isoformat() if created else "",
        name=row.get("id", ""),
        request=request_of(asked, row),
    )
