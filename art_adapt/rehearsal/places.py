"""Say where the user's own code is, in threads that run and in tasks that wait."""

from __future__ import annotations

import asyncio
import os
import selectors
import sys
import types
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from art_adapt import hooks_file
from art_adapt.recording.installed import is_installed


def places(loop: asyncio.AbstractEventLoop | None) -> tuple[str, ...]:
    """Return file and line of the innermost own frame of each thread and task of ``loop``.

    A thread whose loop only waits is where its tasks are.
    """
    running = sys._current_frames().values()
    busy = [each for each in running if each.f_code.co_filename != selectors.__file__]
    found = [_innermost(_outwards(frame)) for frame in busy]
    with suppress(RuntimeError):  # the loop made or ended a task meanwhile
        tasks = asyncio.all_tasks(loop) if loop is not None else ()
        found += [_innermost(_inwards(task.get_coro())) for task in tasks]
    return tuple(each for each in found if each is not None)


def is_own(frame: types.FrameType) -> bool:
    """True if a frame is of the user's code: not installed, and no hooks file."""
    file = frame.f_code.co_filename
    is_ours = file.endswith(f"{os.sep}{hooks_file.NAME}")
    return not (file.startswith("<") or is_ours or is_installed(file))


def _innermost(frames: Iterator[types.FrameType]) -> str | None:
    """Return the place of the first frame that is the user's own."""
    own = next(filter(is_own, frames), None)
    return None if own is None else f"{own.f_code.co_filename}:{own.f_lineno}"


def _outwards(frame: types.FrameType | None) -> Iterator[types.FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _inwards(coroutine: Any) -> Iterator[types.FrameType]:
    """Yield the frames of a coroutine and of what it awaits, the innermost first."""
    frames = []
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None)
        if frame is not None:
            frames.append(frame)
        coroutine = getattr(coroutine, "cr_await", None)
    yield from reversed(frames)
