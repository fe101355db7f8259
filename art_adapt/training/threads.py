"""Runs what blocks in threads that do not keep the process alive."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from art_adapt.recording.installed import is_installed

HOOKS_FILE = "art_recording.py"  # lies in the project, and only wraps what raises


def own_frame(
    frames: Sequence[traceback.FrameSummary],
) -> traceback.FrameSummary | None:
    """Return the innermost frame in the agent's own code, if any."""
    own = [
        frame
        for frame in frames
        if not is_installed(frame.filename) and Path(frame.filename).name != HOOKS_FILE
    ]
    return own[-1] if own else None


def own_place(frames: Sequence[traceback.FrameSummary]) -> str | None:
    """Return file and line of the innermost frame in the agent's own code, if any."""
    frame = own_frame(frames)
    return f"{frame.filename}:{frame.lineno}" if frame is not None else None


# What the main thread runs in the place of other threads, where it is lent.
_lent: queue.SimpleQueue[Callable[[], None] | None] | None = None


def lend_main_thread(work: Callable[[], None]) -> None:
    """Do ``work`` in a thread of its own, and here what it hands to ``in_thread``.

    Signals, and whatever else works in the main thread only, then work in an agent that blocks.
    """
    global _lent
    lent = _lent = queue.SimpleQueue()

    def run() -> None:
        try:
            work()
        finally:
            lent.put(None)

    threading.Thread(target=run, daemon=True).start()
    while (handed := lent.get()) is not None:
        handed()


async def in_thread(function: Callable[[], Any]) -> Any:
    """Call ``function`` in a thread of its own, which knows the active rollout.

    Each rollout that is under way needs one at the same time, and asyncio's pool has
    too few. A thread whose rollout was cancelled must not keep the process alive, as
    those of pools do, anyio's too: it is a daemon.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def run() -> None:
        result, error = None, None
        try:
            result = context.run(function)
        except BaseException as raised:
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, result, error)

    def settle(result: Any, error: BaseException | None) -> None:
        if not outcome.done():  # else it was cancelled
            outcome.set_result((result, error))

    if _lent is not None:
        _lent.put(run)
        ident = threading.main_thread().ident
    else:
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        ident = thread.ident
    try:
        result, error = await outcome
    except asyncio.CancelledError as cancelled:
        # Whoever ended it has this traceback only, which stops here.
        frame = sys._current_frames().get(ident or 0)
        if frame is not None and (place := own_place(traceback.extract_stack(frame))):
            cancelled.add_note(place)
        raise
    if error is not None:
        raise error
    return result
