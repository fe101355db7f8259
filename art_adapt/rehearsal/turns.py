"""Collect the whole turns that the tiny model chooses from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from art_adapt.rehearsal.replies import Reply, Scripted
from art_adapt.rehearsal.scripted_model import Exchange

Json = dict[str, Any]
OF_A_KIND = 4  # at most: calls of the same tools, answers of the scripted model
FROM_SCENARIOS = 16


def turns(
    log: Sequence[Exchange], rows: Sequence[Scripted], scenarios: Sequence[Any]
) -> tuple[Reply, ...]:
    """Return the user's rows, or else turns from the log and from scenarios.

    Those are the scripted model's turns that a tool or a reader could use, and the values
    of the scenarios as answers.
    """
    if rows:
        found: Iterator[Reply] = (row.reply for row in rows)
    else:
        found = _from_log(log, scenarios)
    distinct = {(each.content or "", each.tool_calls): each for each in found}
    return tuple(
        Reply(each.content or None, tuple((n, _data(a)) for n, a in each.tool_calls))
        for key, each in distinct.items()
        if any(key) and each.error is None and all(_data(a) for _, a in each.tool_calls)
    )


def _from_log(log: Sequence[Exchange], scenarios: Sequence[Any]) -> Iterator[Reply]:
    counts: dict[str, int] = {}
    values = dict.fromkeys(_values(scenarios))
    yield from (Reply(value) for value in list(values)[:FROM_SCENARIOS])
    for exchange in log:
        if not exchange.is_policy or exchange.response is None:
            continue
        known = {
            tool["function"]["name"]
            for tool in exchange.request.get("tools") or ()
            if "function" in tool
        }
        for choice in exchange.response["choices"]:
            message = choice["message"]
            calls = tuple(
                (call["function"]["name"], call["function"]["arguments"])
                for call in message.get("tool_calls") or ()
            )
            kind = " ".join(name for name, _ in calls)
            counts[kind] = counts.get(kind, 0) + 1
            if counts[kind] <= OF_A_KIND and all(name in known for name, _ in calls):
                yield Reply(message["content"], calls)


def _values(scenarios: Sequence[Any]) -> Iterator[str]:
    for scenario in scenarios:
        for value in scenario.values() if isinstance(scenario, dict) else ():
            if isinstance(value, str | int | float) and str(value).strip():
                yield str(value)


def _data(arguments: str) -> str:
    """Spell arguments as every template does; an empty string if they are no object."""
    try:
        value = json.loads(arguments)
    except ValueError:
        return ""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else ""


def prompts(log: Sequence[Exchange]) -> tuple[Json, ...]:
    """Return each distinct prompt of the model in training, once."""
    asked = [
        {"messages": e.request["messages"], "tools": e.request.get("tools")}
        for e in log
        if e.is_policy
    ]
    return tuple({json.dumps(each): each for each in asked}.values())
