"""Finds what looks like a key or a password in values that would become scenarios.

It needs the standard library only: the listener of ``capture`` loads it in the agent's process.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

# Keys that tell by themselves, and where they end.
TOKENS = (
    r"\bsk-[\w-]{16,}|\bsk_(?:live|test)_\w{10,}|\bAKIA[0-9A-Z]{16}|\bAIza[\w-]{30,}"
    r"|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bxox[abprs]-[\w-]{10,}"
)
TOKEN = re.compile(rf"(?:{TOKENS})[^\s\"']*")
NAMES = r"(?i:passw(?:or)?d|secret(?:[_-]?(?:access[_-]?)?key)?|api[_-]?key|access[_-]?token)"
NAME = re.compile(NAMES)
SECRET = re.compile(
    rf"{TOKENS}"
    r"|\beyJ[\w-]{10,2000}\.[\w-]{10,}\.|-----BEGIN [A-Z ]*PRIVATE KEY"
    r"|\bBearer [\w.~+/-]{16,}|://[^/\s:@]{1,200}:[^/\s@]{1,200}@"
    rf"|{NAMES}[\"']?\s*[=:]\s*"
    # not a placeholder: sk-or-..., <key>, ${KEY}, your_key
    r"(?![\"'`]?(?:(?:sk-[a-z-]*)?\.{3}(?!\w)|<[\w .-]*>|\$\{\w+\}|(?i:your)(?:[_-]|\b)))\S{6,}"
)
SHOWN = 4  # characters of a secret
HIDDEN = "(looks like a secret)"


def secrets_in(value: Any) -> Iterator[str]:
    """Yield the beginning of each text in ``value``, which JSON can hold, that looks like one."""
    for text in _texts(value):
        for found in SECRET.finditer(text):
            yield found[0][:SHOWN] + "..."


def without_secrets(value: Any) -> Any:
    """Return a value that JSON can hold, with ``HIDDEN`` for each secret in its texts.

    An object with a name is one as well, if its value would be: ``{"password": {"value": ...}}``.
    """
    if isinstance(value, str):
        return _cut(value) if any(secrets_in(value)) else value
    if isinstance(value, list | tuple):
        return [without_secrets(each) for each in value]
    if isinstance(value, dict):
        return {key: _without(key, each) for key, each in value.items()}
    return value


def _cut(text: str) -> str:
    """Return a text without its keys; ``HIDDEN`` alone if another secret is in it."""
    rest = TOKEN.sub(HIDDEN, text)
    return HIDDEN if any(secrets_in(rest.replace(HIDDEN, ""))) else rest


def _without(key: str, value: Any) -> Any:
    inner = value.get("value") if isinstance(value, dict) else value
    if not isinstance(inner, str):
        return without_secrets(value)
    said, left = SECRET.search(f"{key}: {inner}"), without_secrets(inner)
    by_name = said is not None and (said.start() < len(key) or NAME.search(key))
    if by_name or left == HIDDEN:
        return {"not_json": HIDDEN} if isinstance(value, dict) else HIDDEN
    return without_secrets(value) if isinstance(value, dict) else left


def _texts(value: Any) -> Iterator[str]:
    """Yield each text in a value, those of objects with their keys: ``password: ...``.

    A text that is JSON itself, as the arguments of a tool call are, is looked into.
    """
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            left += each.values()
            yield from (f"{key}: {x}" for key, x in each.items() if isinstance(x, str))
        elif isinstance(each, list | tuple):
            left += each
        elif isinstance(each, str):
            inner = _parsed(each)
            if inner is not None:
                left.append(inner)
            yield each


def _parsed(text: str) -> Any:
    """Return the object or list that a text holds as JSON; None for any other."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
