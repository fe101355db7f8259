"""Runs what blocks in threads that do not keep the process alive."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Any


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

    threading.Thread(target=run, daemon=True).start()
    result, error = await outcome
    if error is not None:
        raise error
    return result
