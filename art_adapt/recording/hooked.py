"""What each hook of ``art_recording`` does in a process that has the recorder."""

from __future__ import annotations

import ast
import contextlib
import contextvars
import functools
import inspect
import os
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from art_adapt.hooks import PROTOCOL
from art_adapt.recording.parsing import parsed
from art_adapt.recording.state import (
    OTHER_PROCESS,
    TRAINING_PROCESS,
    active,
    current,
    open_rollouts,
    outside,
    stop,
)
from art_adapt.recording.unhooked import waits_aside

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")


def check_hooks(protocol: int, file: str) -> None:
    """Refuse a hooks file that another version of art-adapt has written.

    Raises:
        RecordingError: the file speaks another protocol than this recorder.
    """
    if protocol != PROTOCOL:
        folder = os.path.dirname(file)
        raise stop(
            f"{file} has protocol {protocol}, but this recorder needs {PROTOCOL}: update the file "
            f"with `art-adapt --no-train-module {folder}`"
        )


def check_imports() -> None:
    """Refuse to record where a function stored a hook before the recorder was imported.

    Such a hook returned the production call itself, and never runs again. The hooks
    files have noted where functions used one; the source tells whether it is called
    there, or stored.

    Raises:
        RecordingError: a hook was stored.
    """
    # Other episodes' threads import meanwhile: only copy() reads a dict in one step.
    for name, module in sys.modules.copy().items():
        if name.rpartition(".")[2] != "art_recording":
            continue
        places = getattr(module, "early", None)
        for file, line in places if isinstance(places, set) else ():
            if _is_stored(file, line):
                raise stop(
                    f"{file}:{line}: recorded(...) was stored here before "
                    "art_adapt.recording was imported, so its calls go to production. "
                    "Import art_adapt.training before you create the agent."
                )


@functools.cache
def _is_stored(file: str, line: int) -> bool:
    """Tell whether a hook on that line is handed on, rather than called in place."""
    try:
        tree = parsed(Path(file).read_bytes(), file)
    except (OSError, SyntaxError, ValueError):
        return False  # made by exec: nothing to read
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    called = {id(call.func) for call in calls}
    return any(
        id(call) not in called
        for call in calls
        if call.lineno <= line <= (call.end_lineno or call.lineno)
        and isinstance(call.func, ast.Name)
        and call.func.id.endswith("recorded")
    )


def recorded(create: F, asking: str = "") -> F:
    """Return a callable that records the calls of ``create`` in a rollout.

    ``asking`` is the function that hooks it, by its qualified name. While a rollout is
    open somewhere in this process, a call that has lost its context (in a thread
    started without ``carried``) raises ``RecordingError``: it would otherwise go to the
    production model, unrecorded.
    """
    asking = _readable(asking or _caller(2)) if current() is not None else ""

    def call(args: Any, kwargs: Any, caller: str) -> Any:
        if (here := current()) is not None:
            is_aside = kwargs.get("model") in here.auxiliary  # an opponent's, a judge's
            if is_aside or waits_aside(here.auxiliary):
                return create(*args, **kwargs)
            return here.call(create, args, kwargs, asking or _readable(caller))
        if os.environ.get(TRAINING_PROCESS) not in (None, str(os.getpid())):
            raise stop(OTHER_PROCESS)
        if open_rollouts:
            raise stop(
                "a recorded model call was made outside its rollout while training: "
                "the thread or executor that runs it has lost the context. "
                "Start it with carried(function) from art_recording."
            )
        frame = sys._getframe(2)
        outside.add((frame.f_code.co_filename, frame.f_lineno))
        return create(*args, **kwargs)

    method = create if isinstance(create, types.MethodType) else None
    if method is not None and not isinstance(method.__func__, types.FunctionType):
        method = None
    bound = 0 if method is None else 1  # how many arguments the method brings

    def call_sync(*args: Any, **kwargs: Any) -> Any:
        return call(args[bound:], kwargs, _caller(2))

    async def call_async(*args: Any, **kwargs: Any) -> Any:
        return await call(args[bound:], kwargs, _caller(2))

    hooked: Any = call_sync
    with contextlib.suppress(Exception):  # of callables with odd attributes
        hooked = call_async if inspect.iscoroutinefunction(create) else call_sync
        functools.update_wrapper(hooked, create if method is None else method.__func__)
    if method is not None:  # stays one: a class that stores it must not bind it again
        hooked = types.MethodType(hooked, method.__self__)
    return hooked  # type: ignore[no-any-return]


def _caller(depth: int) -> str:
    """Return the function that many frames up, by its qualified name."""
    return sys._getframe(depth).f_code.co_qualname


def _readable(function: str) -> str:
    return function.replace(".<locals>", "")


def final_answer(value: Any) -> None:
    """Note ``value`` as the answer of the episode, if a rollout is active."""
    if (here := current()) is not None:
        here.set_final_answer(value)


def reward(value: Any) -> None:
    """Set ``value`` as the trajectory's reward, if a rollout is active."""
    if (here := current()) is not None:
        here.set_reward(value)


def carried(function: Callable[P, T]) -> Callable[P, T]:
    """Return ``function`` so that a thread that runs it stays in the active rollout.

    Executors and threads start with an empty context. A fresh copy of the context for
    every call lets ``executor.map`` run the same function in several threads at once.
    """
    if active.get() is None:
        return function
    context = contextvars.copy_context()

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return context.copy().run(function, *args, **kwargs)

    return run
