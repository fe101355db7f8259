"""Langfuse: observations and traces, as its interface, its API and its exports write them."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

from art_adapt.logs.entry import Entry, request_of

NAME = "Langfuse"
_TRACED = {"traceId", "trace_id", "sessionId", "session_id", "htmlPath", "observations"}
_TIMES = ("startTime", "start_time", "timestamp")
_MODELS = ("model", "providedModelName", "provided_model_name")


def read(row: dict[str, Any]) -> Entry | None:
    """Read an observation or a trace; names are in camel case, or as columns of a table.

    Its OpenAI integration keeps ``messages`` alone or with ``tools``, and the answer as a
    message; ``@observe`` keeps ``{"args": [...], "kwargs": {...}}`` (langfuse 5.0.4,
    openai.py ``_extract_chat_prompt`` and _client/observe.py). Tables and the second
    version of the API hold ``input`` and ``output`` as text.
    """
    if "input" not in row or not _TRACED & row.keys():
        return None
    given, result = _parsed(row["input"]), _parsed(row.get("output"))
    is_observation = "type" in row
    is_call = row.get("type") == "GENERATION"
    parent = row.get("parentObservationId") or row.get("parent_observation_id")
    trace = row.get("traceId") or row.get("trace_id")
    request = request_of(given, result) if is_call or not is_observation else None
    positional, arguments = (), {}
    if isinstance(given, dict) and not is_call and not parent:
        arguments = given
        if given.keys() == {"args", "kwargs"}:
            positional, arguments = tuple(given["args"] or ()), given["kwargs"] or {}
    model = next((str(row[key]) for key in _MODELS if row.get(key)), "")
    if request is not None:
        request = replace(request, model=request.model or model)
    return Entry(
        trace=str(trace or row.get("id") or "") or None,
        at=next((str(row[key]) for key in _TIMES if row.get(key)), ""),
        name=str(row.get("name") or ""),
        arguments=arguments,
        positional=positional,
        result=result,
        request=request,
    )


def _parsed(value: Any) -> Any:
    if isinstance(value, str):
        with suppress(ValueError):
            return json.loads(value)
    return value
