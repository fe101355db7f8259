"""Hooks that let ART train this agent; in production each returns what it is given.

Written by art-adapt, which replaces it. A hook looks for the recorder, which only a
training process imports; elsewhere recorded(create) calls create and nothing else.
"""

import copyreg
import operator
import os
import sys
from typing import Any, TypeVar, TypeVarTuple, overload

PROTOCOL = 1  # a recorder that speaks another refuses this file
T = TypeVar("T")
Ts = TypeVarTuple("Ts")

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


def recorded(create: T) -> T:
    """Return ``create``; in a training process, what records its calls. None stays None."""
    recorder, caller = _recorder(), sys._getframe(1)
    in_body = not caller.f_code.co_flags & 1  # of a module or class, which runs once
    if create is not None and (in_body or (_is_child and recorder is None)):
        return _Deferred(create)  # type: ignore[return-value]
    if recorder is not None and create is not None:
        return recorder.recorded(create, caller.f_code.co_qualname)  # type: ignore
    early.add((caller.f_code.co_filename, caller.f_lineno))
    return create


def _of(stand_in: Any) -> Any:
    return object.__getattribute__(stand_in, "_create")


def _passed_on(function: Any) -> Any:
    return lambda stand_in, *args: function(_of(stand_in), *args)


class _Deferred:
    """Stands for ``create``, which it equals in all but its type; records its calls."""

    def __init__(self, create: Any) -> None:
        object.__setattr__(self, "_create", create)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if (recorder := _recorder()) is not None:
            asking = sys._getframe(1).f_code.co_qualname
            return recorder.recorded(_of(self), asking)(*args, **kwargs)
        if _is_child:
            raise RuntimeError("a recorded call in another process than its rollout")
        return _of(self)(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        bind = getattr(type(_of(self)), "__get__", None)  # a function has one
        bound = bind(_of(self), instance, owner) if bind else _of(self)
        return self if bound is _of(self) else _Deferred(bound)

    __getattribute__, __setattr__ = _passed_on(getattr), _passed_on(setattr)
    __delattr__, __dir__ = _passed_on(delattr), _passed_on(dir)
    __eq__, __hash__, __repr__ = map(_passed_on, (operator.eq, hash, repr))


copyreg.pickle(_Deferred, lambda stand_in: (_Deferred, (_of(stand_in),)))  # and copy


@overload
def final_answer(value: T, /) -> T: ...
@overload
def final_answer(value: T, /, *more: *Ts) -> tuple[T, *Ts]: ...
def final_answer(*values: Any) -> Any:  # type: ignore[misc]
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


def carried(function: T) -> T:
    """Return the function; in a rollout, one that takes it into another thread."""
    return function if (here := _recorder()) is None else here.carried(function)
