"""Turn what an agent holds into JSON, as it is now."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import uuid
from pathlib import PurePath
from typing import Any


def as_json(value: Any) -> dict[str, Any]:
    """Return ``value`` as JSON can hold it, as it is now; or what it is instead."""
    try:
        return {"value": json.loads(json.dumps(value, default=_plain))}
    except Exception:  # whatever an object's own methods raise
        return {"not_json": type(value).__qualname__}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if hasattr(type(value), "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    texts = (PurePath, datetime.date, datetime.time, decimal.Decimal, uuid.UUID)
    if isinstance(value, texts):
        return str(value)
    raise TypeError
