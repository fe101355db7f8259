"""Hooks that let ART train this agent; in production each returns what it is given.

Written by art-adapt, which replaces this file: do not edit it. A hook looks for the
recorder among the loaded modules. Only a training process imports art_adapt.recording;
everywhere else recorded(create) is create itself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

__all__ = ["carried", "final_answer", "recorded", "reward"]

PROTOCOL = 1  # a recorder that speaks another refuses this file

T = TypeVar("T")
T1 = TypeVar("T1")
T2 = TypeVar("T2")
F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")

# Hooks that ran at import, before there was a recorder: it refuses to train with them.
unrecorded: list[str] = []

# A training run puts its process id here: a process that its agent starts has none of
# its rollouts, and must not call the production model instead.
_process = os.environ.get("ART_RECORDING_PROCESS")
_is_child = _process is not None and _process != str(os.getpid())


def _recorder() -> Any:
    recorder = sys.modules.get("art_adapt.recording")
    if recorder is not None:
        recorder.check_hooks(PROTOCOL, __file__)
    return recorder


def recorded(create: F) -> F:
    """Return ``create``; in a training process, a callable that records its calls."""
    recorder = _recorder()
    caller = sys._getframe(1)
    if recorder is not None:
        hooked: F = recorder.recorded(create, caller.f_code.co_qualname)
        return hooked
    if _is_child:
        raise RuntimeError(
            "a recorded model call was made in another process than its rollout, where "
            "it cannot be recorded: use threads or tasks for what calls the model"
        )
    if not caller.f_code.co_flags & 1:  # of a module or a class, so it runs only once
        unrecorded.append(f"{caller.f_code.co_filename}:{caller.f_lineno}")
    return create


@overload
def final_answer(value: T, /) -> T: ...
@overload
def final_answer(value: T, second: T1, /) -> tuple[T, T1]: ...
@overload
def final_answer(value: T, second: T1, third: T2, /) -> tuple[T, T1, T2]: ...
@overload
def final_answer(
    value: Any, second: Any, third: Any, fourth: Any, /, *more: Any
) -> tuple[Any, ...]: ...
def final_answer(*values: Any) -> Any:
    """Return the value (a tuple of several); in a rollout it is the final answer."""
    value = values[0] if len(values) == 1 else values
    if (recorder := _recorder()) is not None:
        recorder.final_answer(value)
    return value


def reward(value: T) -> T:
    """Return the value; in a rollout it is the reward, of several the last."""
    if (recorder := _recorder()) is not None:
        recorder.reward(value)
    return value


def carried(function: Callable[P, T]) -> Callable[P, T]:
    """Return the function; in a rollout, one that takes it into another thread."""
    recorder = _recorder()
    return function if recorder is None else recorder.carried(function)
