"""``create`` and its kin of an instructor client, or of one that instructor patched."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from art_adapt.recording.callees.callee import Callee, Finder


def find(function: Any, _: str, inner_callee: Finder) -> Callee | None:
    """Return the inner call, patched by instructor in the same mode."""
    owner: Any = getattr(function, "__self__", None)
    if hasattr(owner, "create_fn") and hasattr(owner, "mode"):
        create_fn, mode = owner.create_fn, owner.mode
    elif "new_create_" in getattr(
        getattr(function, "__code__", None), "co_qualname", ""
    ):
        create_fn = function
        mode = inspect.getclosurevars(function).nonlocals.get("mode")
    else:
        return None
    inner = inner_callee(create_fn.__wrapped__)

    def on(client: Any) -> Callable[..., Any]:
        patch = sys.modules["instructor"].patch
        # instructor asks whether a create is async of the function itself.
        patched = patch(create=_as_function(inner, client), mode=mode)
        if create_fn is function:
            method: Callable[..., Any] = patched
            return method
        twin = object.__new__(type(owner))
        twin.__dict__.update(owner.__dict__, create_fn=patched)
        method = getattr(twin, function.__name__)
        return method

    late = inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function)
    return replace(inner, on=on, is_late=late)


def _as_function(call: Callee, client: Any) -> Callable[..., Any]:
    method = call.on(client)

    async def create_async(*args: Any, **kwargs: Any) -> Any:
        return await method(*args, **kwargs)

    def create(*args: Any, **kwargs: Any) -> Any:
        return method(*args, **kwargs)

    return create_async if call.is_async else create
