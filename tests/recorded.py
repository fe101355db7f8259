"""Compares a trajectory with what the engine was asked and gave: each completion once, and as it was (G4, G5)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scripted_completions import marker
from scripted_engine import Exchange


@dataclass(frozen=True)
class Received:
    """How much of a choice the agent has read: ``whole`` if it saw how the choice ended."""

    token_ids: Sequence[int]
    whole: bool


def differences(
    histories: Sequence[dict[str, Any]],
    log: Sequence[Exchange],
    received: Mapping[int, Received] | None = None,
) -> list[str]:
    """What the histories have that the engine's log has not, and the other way round; empty if they agree.

    A history is ``{"tools": ..., "items": [message or {"choice": ...}]}``, as ``episode_child.py`` prints it.
    ``received`` says, by marker, what the agent got of what the engine gave; without it, that is all but what
    the engine itself broke off.
    """
    given = {
        marker(number, choice["index"]): exchange
        for number, exchange in enumerate(log, 1)
        if exchange.response is not None
        for choice in exchange.response["choices"]
    }
    delivered = {mark for mark, exchange in given.items() if not exchange.broken}
    expected = delivered if received is None else set(received)
    problems: list[str] = []
    seen: Counter[int] = Counter()
    for history in histories:
        items = history["items"]
        for at, item in enumerate(items):
            if "choice" not in item:
                continue
            choice = item["choice"]
            mark = choice["token_ids"][0]
            seen[mark] += 1
            if mark not in given:
                problems.append(f"a choice that the engine did not give: {choice}")
                continue
            request = given[mark].request
            before = [
                i["choice"]["message"] if "choice" in i else i for i in items[:at]
            ]
            if [_essence(m) for m in before] != [
                _essence(m) for m in request["messages"]
            ]:
                problems.append(f"messages {before} instead of {request['messages']}")
            tools = request.get("tools")
            if request.get("functions"):
                tools = [
                    {"type": "function", "function": f} for f in request["functions"]
                ]
            if history["tools"] != tools:
                problems.append(f"tools {history['tools']} instead of {tools}")
            problems += _reply_differences(choice, given[mark])
            if received is not None and mark in received:
                problems += _reading_differences(choice, received[mark])
    problems += [
        f"recorded {count} times: {mark}" for mark, count in seen.items() if count > 1
    ]
    problems += [
        f"lost: {mark}, the answer to {given[mark].request['messages'][-1]}"
        for mark in sorted(expected - set(seen))
    ]
    problems += [
        f"recorded, but never received: {mark}"
        for mark in sorted((set(seen) & set(given)) - expected)
    ]
    return problems


def _reply_differences(choice: dict[str, Any], exchange: Exchange) -> list[str]:
    assert exchange.response is not None
    sent = exchange.response["choices"][choice["index"]]
    ids = choice["token_ids"]
    if choice.get("cut"):
        text, whole = choice["message"].get("content") or "", sent["message"]["content"]
        problems = [] if (whole or "").startswith(text) else [f"cut text {text!r}"]
        cut = ids == sent["token_ids"][: len(ids)]
        return problems + ([] if cut else [f"cut tokens {ids}"])
    found = []
    if _essence(choice["message"]) != _essence(sent["message"]):
        found.append(f"message {choice['message']} instead of {sent['message']}")
    prompt = exchange.response["prompt_token_ids"]
    if (
        ids != sent["token_ids"]
        # With ART 0.5.18, which does not read it, it is not kept.
        or choice.get("prompt_token_ids", prompt) != prompt
    ):
        found.append(f"tokens {ids} instead of {sent['token_ids']}")
    if [token["token"] for token in choice["logprobs"]["content"]] != [
        f"token_id:{i}" for i in ids
    ]:
        found.append("logprobs of other tokens")
    if choice["finish_reason"] != sent["finish_reason"]:
        found.append(f"finish_reason {choice['finish_reason']}")
    return found


def _reading_differences(choice: dict[str, Any], read: Received) -> list[str]:
    found = []
    if choice["token_ids"] != list(read.token_ids):
        found.append(f"tokens {choice['token_ids']}, where it read {read.token_ids}")
    if bool(choice.get("cut")) is read.whole:
        found.append(f"cut={choice.get('cut')}, where whole={read.whole}")
    return found


def _essence(message: dict[str, Any]) -> Any:
    """A message as a chat template sees it. Only an assistant's may be spelled differently from the reply."""
    if message.get("role") != "assistant":
        return message
    calls = [
        (
            call["id"],
            call["function"]["name"],
            _arguments(call["function"]["arguments"]),
        )
        for call in message.get("tool_calls") or []
    ]
    return message.get("content") or "", calls, message.get("function_call")


def _arguments(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:  # half of them, of a stream that was left early
        return text
