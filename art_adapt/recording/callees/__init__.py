"""Sees through partials, tracers, litellm and instructor to the SDK's own method.

One module for each kind of callee, with a function ``find(function, view, inner)`` that
returns the ``Callee`` or None. A further kind is a further module.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import types
from collections.abc import Callable
from typing import Any

from art_adapt.recording.callees.callee import Callee
from art_adapt.recording.installed import is_installed
from art_adapt.recording.state import stop


def find_callee(create: Callable[..., Any]) -> Callee:
    """Return the call that ``create`` makes.

    Raises:
        RecordingError: it is no way to ask a model that the recorder knows.
    """
    function: Any = create
    view = ""
    while function is not None:
        for find in _kinds():
            found: Callee | None = find(function, view, find_callee)
            if found is not None:
                return found
        # functools.wraps keeps the names of the method; only the code object still
        # tells which view wrapped it.
        maker = getattr(getattr(function, "__code__", None), "co_qualname", "")
        if "to_raw_response_wrapper" in maker:
            view = "with_raw_response"
        elif "to_streamed_response_wrapper" in maker:
            view = "with_streaming_response"
        function = getattr(function, "__wrapped__", None)
    raise stop(
        f"recorded({getattr(create, '__qualname__', create)!s}): not a method of an "
        "OpenAI client, so the call cannot be sent to the model in training. "
        "recorded() goes directly around client.chat.completions.create."
    )


def asks_itself(create: Callable[..., Any]) -> bool:
    """Tell whether a method is the agent's own, of a class that looks like a client.

    What it asks in turn has a hook of its own, or is reported as a call without one.
    """
    method = getattr(create, "__func__", None)
    return (
        isinstance(method, types.FunctionType)
        and not hasattr(method, "__wrapped__")
        and not is_installed(method.__code__.co_filename)
        and all(find(create, "", find_callee) is None for find in _kinds())
    )


@functools.cache
def _kinds() -> tuple[Callable[..., Callee | None], ...]:
    """Return the ``find`` of each module of this package that has one."""
    names = [f"{__name__}.{found.name}" for found in pkgutil.iter_modules(__path__)]
    modules = map(importlib.import_module, names)
    return tuple(module.find for module in modules if hasattr(module, "find"))
