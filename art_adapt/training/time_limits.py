"""Ends what takes too long, whether or not it lets itself be ended."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from traceback import extract_tb
from typing import Any, TypeVar

from art_adapt.training.threads import own_place

T = TypeVar("T")
GRACE = 5.0  # seconds that what was cancelled may take to clean up


class OutOfTime(Exception):
    """The time is over."""


async def within(seconds: float | None, running: Coroutine[Any, Any, T]) -> T:
    """Await ``running`` for so many seconds at most; None: without an end.

    Unlike ``asyncio.timeout``, it does not wait for code that swallows its cancellation.

    Raises:
        OutOfTime: it has taken longer. What it still does is nobody's any more.
    """
    if seconds is None:
        return await running
    task = asyncio.ensure_future(_outcome(running))
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        task.cancel()
        raise
    if not done:
        task.cancel()
        await asyncio.wait({task}, timeout=GRACE)
        where = f", at {place}" if (place := _place(task)) else ""
        raise OutOfTime(f"it took longer than {seconds:g} seconds{where}")
    result, error = task.result()
    if error is not None:
        raise error
    return result  # type: ignore[return-value]


def _place(ended: asyncio.Task[Any]) -> str | None:
    """Return file and line where a task was when it was cancelled; None: nobody knows."""
    try:
        ended.result()
    except asyncio.CancelledError as cancelled:
        notes = getattr(cancelled, "__notes__", ())
        return notes[0] if notes else own_place(extract_tb(cancelled.__traceback__))
    except asyncio.InvalidStateError:  # it goes on: it swallows its cancellation
        pass
    return None


async def _outcome(
    running: Coroutine[Any, Any, T],
) -> tuple[T | None, BaseException | None]:
    """Return what was raised: a SystemExit that leaves a task would end the loop."""
    try:
        return await running, None
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return None, error
