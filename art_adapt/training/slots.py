"""Bounds how many episodes run at once in this process."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def at_once(
    most: int,
) -> Callable[[Callable[P, Awaitable[T]]], Callable[P, Awaitable[T]]]:
    """Return a decorator that lets no more than ``most`` calls run at once; others wait."""
    slots = asyncio.Semaphore(most)

    def bounded(rollout: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
        @functools.wraps(rollout)
        async def in_a_slot(*arguments: P.args, **named: P.kwargs) -> T:
            async with slots:
                return await rollout(*arguments, **named)

        return in_a_slot

    return bounded
