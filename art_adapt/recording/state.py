"""The state that all rollouts of a process share: which are open, which is active here."""

from __future__ import annotations

import contextvars
import os
import threading
import warnings
from contextlib import suppress
from typing import Any, Protocol


class RecordingError(RuntimeError):
    """Raised where the recorder would have lost or falsified a completion."""


class EndpointError(ConnectionError):
    """Raised where the endpoint failed: the episode says nothing about the policy."""


class RecordingWarning(UserWarning):
    """A warning to the person who trains, given once in a process."""


class Stoppable(Protocol):
    """The part of a rollout that an error is noted on."""

    stopped: RecordingError | None


# The environment variable that holds the id of the process with open rollouts.
TRAINING_PROCESS = "ART_RECORDING_PROCESS"
OTHER_PROCESS = (
    "a recorded model call was made in another process than its rollout, where it "
    "cannot be recorded: use threads or tasks for what calls the model"
)

# Holds the rollout that the current task or thread belongs to. Its type is Any, for the
# rollout's own module stands above this one.
active: contextvars.ContextVar[Any] = contextvars.ContextVar(
    "art_rollout", default=None
)
open_rollouts: dict[int, Stoppable] = {}
said: set[str] = set()
_opening = threading.Lock()


def opened(rollout: Stoppable) -> None:
    """Note that ``rollout`` is open, also for the processes that its agent starts."""
    with _opening:
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
    current = active.get()
    for concerned in [current] if current is not None else list(open_rollouts.values()):
        concerned.stopped = concerned.stopped or error
    return error
