"""LangSmith: runs, as its SDK sends and lists them, and the examples of its datasets."""

from __future__ import annotations

from typing import Any

from art_adapt.logs.entry import Entry, request_of

NAME = "LangSmith"


def read(row: dict[str, Any]) -> Entry | None:
    """Read a run, or an example.

    ``wrap_openai`` keeps a request's keyword arguments as ``inputs`` and the completion as
    ``outputs``; ``@traceable`` keeps a function's arguments by name, and its result as
    ``outputs["output"]`` (langsmith 0.15.0, wrappers/_openai.py and run_helpers.py).
    """
    inputs, outputs = row.get("inputs"), row.get("outputs")
    if not isinstance(inputs, dict) or not ("run_type" in row or "outputs" in row):
        return None
    is_call = row.get("run_type") == "llm"
    request = request_of(inputs, outputs)
    if is_call and request is None:
        return Entry()
    is_root = not row.get("parent_run_id")
    result = outputs.get("output", outputs) if isinstance(outputs, dict) else outputs
    return Entry(
        trace=str(row.get("trace_id") or "") or None,
        at=str(row.get("start_time") or ""),
        name=str(row.get("name") or ""),
        arguments={} if is_call or not is_root else inputs,
        result=result,
        request=request if is_call or "run_type" not in row else None,
    )
