"""Hooks that let ART train this agent; in production each returns what it is given.

Written by art-adapt, which replaces it. A hook looks for the recorder, which only a
training process imports; elsewhere recorded(create) calls create and nothing else.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FunctionType, MethodType
from typing import Any, ParamSpec, TypeVar, overload

PROTOCOL = 1  # a recorder that speaks another refuses this file

T = TypeVar("T")
T1 = TypeVar("T1")
T2 = TypeVar("T2")
F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")

# Where functions have used a hook without a recorder: it looks whether they stored it.
early: set[tuple[str, int]] = set()

# A process that a training run starts must not call production instead.
_is_child = os.environ.get("ART_RECORDING_PROCESS", pid := str(os.getpid())) != pid


def _recorder() -> Any:
    recorder = sys.modules.get("art_adapt.recording")
    if hasattr(recorder, "check_hooks"):  # else it is absent, or being imported
        recorder.check_hooks(PROTOCOL, __file__)  # type: ignore[union-attr]
        return recorder
    return None


def recorded(create: F) -> F:
    """Return ``create``; in a training process, a callable that records its calls."""
    recorder, caller = _recorder(), sys._getframe(1)
    if recorder is not None:
        create = recorder.recorded(create, caller.f_code.co_qualname)
    elif _is_child or not caller.f_code.co_flags & 1:  # a module's or class's body
        create = _deferred(create)
    else:
        early.add((caller.f_code.co_filename, caller.f_lineno))
    return create


def _deferred(create: Any) -> Any:
    """Return ``create`` as a callable that looks for the recorder at each call."""
    function: Any = create.__func__ if isinstance(create, MethodType) else None
    bound = 1 if isinstance(function, FunctionType) else 0  # arguments of the method

    def call(*args: Any, **kwargs: Any) -> Any:
        if (recorder := _recorder()) is not None:
            asking = sys._getframe(1).f_code.co_qualname
            return recorder.recorded(create, asking)(*args[bound:], **kwargs)
        if _is_child:
            raise RuntimeError("a recorded call in another process than its rollout")
        return create(*args[bound:], **kwargs)

    with suppress(Exception):  # of callables with odd attributes
        functools.update_wrapper(call, function if bound else create)
    return MethodType(call, create.__self__) if bound else call


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
