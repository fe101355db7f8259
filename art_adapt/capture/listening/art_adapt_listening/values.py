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

CONTAINERS = (list, tuple, dict, set, frozenset)
LARGEST = 500  # elements of a container that is still kept
LONGEST = 200_000  # characters of a value
MOST_PARTS = 20  # of an object
STANDARD = (  # what becomes a text
    datetime.date,
    datetime.datetime,
    datetime.time,
    decimal.Decimal,
    uuid.UUID,
)
NAMESPACE = (
    "argparse:Namespace"  # what a command line gives; nothing is imported for it
)


def as_json(value: Any) -> dict[str, Any]:
    """Return ``value`` as JSON can hold it, as it is now; or what it is instead.

    ``turned``: the types of what is inside a container, and became text or a dict.
    """
    turned: set[str] = set()

    def plain(inner: Any) -> Any:
        if inner is not value and not isinstance(inner, enum.Enum):
            turned.add(type(inner).__qualname__)
        return _plain(inner)

    try:
        kept = {"value": json.loads(json.dumps(value, default=plain))}
    except Exception:  # whatever an object's own methods raise
        return {"not_json": type(value).__qualname__}
    is_container = isinstance(value, CONTAINERS)
    return {**kept, "turned": sorted(turned)} if is_container and turned else kept


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if _names(type(value)) == NAMESPACE:
        return vars(value)
    if hasattr(type(value), "model_dump"):
        return value.model_dump(mode="json", warnings=False)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    if isinstance(value, (PurePath, *STANDARD)):
        return str(value)
    raise TypeError


def standard_class(value: Any) -> list[str] | None:
    """Return the module and the name of a path's class or a time's; None for another one."""
    kind = type(value)
    if issubclass(kind, PurePath):
        return ["pathlib", "Path"]
    return [kind.__module__, kind.__qualname__] if kind in STANDARD else None


def _names(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def snapshot(value: Any) -> dict[str, Any]:
    """Return a value as JSON can hold it, unless it is large; else its type and its parts.

    Nothing is asked of an object that could make it do something, as counting a query's rows.
    """
    kind = type(value)
    if value is None or kind in (bool, int, float):
        return {"value": value}
    if kind is str:
        cut = {"not_json": f"text of {len(value)} characters"}
        return {"value": value[:LONGEST], **(cut if len(value) > LONGEST else {})}
    if issubclass(kind, tuple) and (names := getattr(kind, "_fields", ())):
        value = dict(zip(names, value, strict=False))  # of a named tuple
    is_large = issubclass(kind, CONTAINERS) and len(value) > LARGEST
    kept: dict[str, Any] = {"not_json": kind.__qualname__}
    if not is_large:
        kept = as_json(value)
    if _names(kind) == NAMESPACE and "value" in kept:
        kept["type"] = NAMESPACE
    if "value" not in kept:
        kept["parts"] = _parts(value)
    return kept


def _parts(value: Any) -> dict[str, Any]:
    """Return those attributes of an object that are plain."""
    attributes = getattr(value, "__dict__", None)
    if type(attributes) is not dict:
        return {}
    return {
        name: part[:LONGEST] if type(part) is str else part
        for name, part in list(attributes.items())[:MOST_PARTS]
        if type(part) in (str, int, float)
    }
