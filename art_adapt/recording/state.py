"""The state that all rollouts of a process share: which are open, which is active here."""

from __future__ import annotations

import contextvars
import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol


class RecordingError(RuntimeError):
    """Raised where the recorder would have lost or falsified a completion."""


class EndpointError(ConnectionError):
    """Raised where the endpoint failed: the episode says nothing about the policy."""


class EpisodeOver(BaseException):
    """Raised in code of an episode that is over.

    An agent that catches ``Exception`` and tries again would ask for ever otherwise, in a
    thread that nobody waits for.
    """


class RecordingWarning(UserWarning):
    """A warning to the person who trains, given once in a process."""


class Stoppable(Protocol):
    """The part of a rollout that an error is noted on."""

    stopped: RecordingError | None


# The environment variable that holds the id of the process with open rollouts.
TRAINING_PROCESS = "ART_RECORDING_PROCESS"
OTHER_PROCESS = (
    "a recorded model call was made in another process than its rollout, where it "
    "cannot be recorded: call the model from threads or tasks"
)

# Holds the rollout that the current task or thread belongs to. Its type is Any, for the
# rollout's own module stands above this one.
active: contextvars.ContextVar[Any] = contextvars.ContextVar(
    "art_rollout", default=None
)
_judges: contextvars.ContextVar[bool] = contextvars.ContextVar(
    "art_judges", default=False
)
open_rollouts: dict[int, Stoppable] = {}
said: set[str] = set()
# Where hooked calls went to production, since no rollout was open in this process.
outside: set[tuple[str, int]] = set()
_opening = threading.Lock()
_only: Any = None  # the rollout that all code of this process belongs to


def expect_one_rollout() -> None:
    """Let code that has lost its context belong to the first rollout of this process.

    For a process that runs one episode. A further rollout would be an episode that is
    tried again, beside threads that the first has left behind: it takes none of those.
    """
    global _only
    _only = _Expected


class _Expected:
    """Stands for the rollout that is to come."""


def current() -> Any:
    """Return the rollout that the running code belongs to; None: it belongs to none."""
    if (found := active.get()) is not None:
        return found
    return _only if id(_only) in open_rollouts else None


@contextmanager
def judging() -> Iterator[None]:
    """Mark what runs in this block as a judge of episodes, and part of none."""
    token = _judges.set(True)
    try:
        yield
    finally:
        _judges.reset(token)


def is_judging() -> bool:
    """Tell whether the running code judges episodes."""
    return _judges.get()


def opened(rollout: Stoppable) -> None:
    """Note that ``rollout`` is open, also for the processes that its agent starts."""
    global _only
    with _opening:
        if _only is _Expected:
            _only = rollout
        open_rollouts[id(rollout)] = rollout
        os.environ[TRAINING_PROCESS] = str(os.getpid())


def ended(rollout: Stoppable) -> None:
    """Note that ``rollout`` has ended."""
    with _opening:
        open_rollouts.pop(id(rollout), None)
        if not open_rollouts:
            os.environ.pop(TRAINING_PROCESS, None)


def say_once(message: str) -> None:
    """Warn with ``message``, unless this process has done so before."""
    if message not in said:
        said.add(message)
        with suppress(RecordingWarning):  # where warnings are errors
            warnings.warn(message, RecordingWarning, stacklevel=2)


def stop(message: str) -> RecordingError:
    """Return the error to raise, and note it on the rollout, for agents swallow errors.

    Where no rollout is active here, it is noted on every open one.
    """
    error = RecordingError(message)
    here = current()
    for concerned in [here] if here is not None else list(open_rollouts.values()):
        concerned.stopped = concerned.stopped or error
    return error
