"""The call that stands behind a callee, ready to be made on another client."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Callee:
    """The call that a callee makes, on any client.

    Attributes:
        on: gives the same callable on another client of the SDK.
        is_async: the callable, or what it returns, has to be awaited.
        is_late: it returns a manager or a generator, and asks when that is used.
        options: settings of the user's client that hold for the model in training too.
        client: the user's client, where it is one of the SDK.
    """

    on: Callable[[Any], Callable[..., Any]]
    is_async: bool
    is_late: bool
    options: dict[str, Any]
    client: Any = None


# Sees through a wrapper to the callee inside, as ``callees.find_callee`` does.
Finder = Callable[[Callable[..., Any]], Callee]


def own_options(client: Any) -> dict[str, Any]:
    """Return the user's settings of a client that hold for the model in training too."""
    return {"timeout": client.timeout, "max_retries": client.max_retries}
