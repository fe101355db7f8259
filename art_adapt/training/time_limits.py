"""Ends what takes too long, whether or not it lets itself be ended."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

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
        raise OutOfTime(f"it took longer than {seconds:g} seconds")
    result, error = task.result()
    if error is not None:
        raise error
    return result  # type: ignore[return-value]


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
