"""What each hook of ``art_recording`` does in a process that has the recorder."""

from __future__ import annotations

import contextvars
import functools
import inspect
import os
import sys
import types
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from art_adapt.hooks import PROTOCOL
from art_adapt.recording.state import (
    OTHER_PROCESS,
    TRAINING_PROCESS,
    active,
    open_rollouts,
    stop,
)

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")

_PROCESS = str(os.getpid())


def check_hooks(protocol: int, file: str) -> None:
    """Refuse a hooks file that another version of art-adapt has written.

    Raises:
        RecordingError: the file speaks another protocol than this recorder.
    """
    if protocol != PROTOCOL:
        folder = os.path.dirname(file)
        raise stop(
            f"{file} speaks protocol {protocol} and this recorder {PROTOCOL}: renew it "
            f"with `art-adapt --no-train-module {folder}`"
        )


def check_imports() -> None:
    """Refuse to record where a hook was taken before the recorder was imported.

    Such a hook returned the production call itself, and never runs again.

    Raises:
        RecordingError: a loaded hooks file has noted such places.
    """
    for name, module in list(sys.modules.items()):
        is_hooks = name.rpartition(".")[2] == "art_recording"
        if is_hooks and (places := getattr(module, "unrecorded", None)):
            raise stop(
                f"{places[0]}: recorded(...) ran here before art_adapt.recording "
                "was imported, so its calls go to production. Import "
                "art_adapt.training before the agent."
            )


def recorded(create: F, asking: str = "") -> F:
    """Return a callable that records the calls of ``create`` in a rollout.

    ``asking`` is the function that hooks it, by its qualified name. While a rollout is
    open somewhere in this process, a call that has lost its context (in a thread
    started without ``carried``) raises ``RecordingError``: it would otherwise go to the
    production model, unrecorded.
    """
    asking = _readable(asking or _caller(2)) if active.get() is not None else ""

    def call(args: Any, kwargs: Any, caller: str) -> Any:
        current = active.get()
        if current is not None:
            return current.call(create, args, kwargs, asking or _readable(caller))
        if os.environ.get(TRAINING_PROCESS, _PROCESS) != _PROCESS:
            raise stop(OTHER_PROCESS)
        if open_rollouts:
            raise stop(
                "a recorded model call was made outside its rollout while training: "
                "the thread or executor that runs it has lost the context. "
                "Start it with carried(function) from art_recording."
            )
        return create(*args, **kwargs)

    function = getattr(create, "__func__", None)
    owner = getattr(create, "__self__", None)
    is_method = owner is not None and isinstance(function, types.FunctionType)
    bound = 1 if is_method else 0  # how many arguments the method brings

    def call_sync(*args: Any, **kwargs: Any) -> Any:
        return call(args[bound:], kwargs, _caller(2))

    async def call_async(*args: Any, **kwargs: Any) -> Any:
        return await call(args[bound:], kwargs, _caller(2))

    hooked: Any = call_async if inspect.iscoroutinefunction(create) else call_sync
    if is_method:  # stays one: a class that stores it must not bind it again
        functools.update_wrapper(hooked, function)  # type: ignore[arg-type]
        return types.MethodType(hooked, owner)  # type: ignore[return-value]
    functools.update_wrapper(hooked, create)
    return hooked  # type: ignore[no-any-return]


def _caller(depth: int) -> str:
    """Return the function that many frames up, by its qualified name."""
    return sys._getframe(depth).f_code.co_qualname


def _readable(function: str) -> str:
    return function.replace(".<locals>", "")


def final_answer(value: Any) -> None:
    """Note ``value`` as the answer of the episode, if a rollout is active."""
    if (current := active.get()) is not None:
        current.set_final_answer(value)


def reward(value: Any) -> None:
    """Set ``value`` as the trajectory's reward, if a rollout is active."""
    if (current := active.get()) is not None:
        current.set_reward(value)


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
