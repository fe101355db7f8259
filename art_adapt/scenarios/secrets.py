"""Finds what looks like a key or a password in values that would become scenarios."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

SECRET = re.compile(
    r"\bsk-[\w-]{16,}|\bAKIA[0-9A-Z]{16}|\bgh[pousr]_\w{20,}|\bxox[abprs]-[\w-]{10,}"
    r"|\beyJ[\w-]{10,}\.[\w-]{10,}\.|-----BEGIN [A-Z ]*PRIVATE KEY|\bBearer [\w.~+/-]{16,}"
    r"|(?i:passw(?:or)?d|secret|api[_-]?key|access[_-]?token)[\"']?\s*[=:]\s*\S{6,}"
    r"|://[^/\s:@]+:[^/\s@]+@"
)
SHOWN = 4  # characters of a secret


def secrets_in(value: Any) -> Iterator[str]:
    """Yield the beginning of each text in ``value``, which JSON can hold, that looks like one."""
    text = value if isinstance(value, str) else json.dumps(value)
    for found in SECRET.finditer(text):
        yield found[0][:SHOWN] + "..."
