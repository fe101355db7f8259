"""What is active in a process that is watched: calls of the project's functions, and its objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

Site = tuple[str, int, str]  # file, line and function that called
RUNS_LOOPS = ("_run", "_run_once", "run", "run_forever", "run_until_complete")


@dataclass
class Active:
    """A function of the project that has begun: what it was given, and what is around it.

    ``direct``: code of the project called it, or a library's decorator of it, as for retries;
    and no library that had been handed it. ``effects``: functions that it called before the
    model was asked in it, and that returned nothing.
    """

    number: int
    around: Active | None
    code: CodeType
    site: Site | None
    direct: bool
    given: dict[str, Any]
    owner: Made | None
    written: bool = False
    over: bool = False  # it has returned
    effects: dict[CodeType, int] = field(default_factory=dict)  # the line of each call


@dataclass
class Made:
    """An object of a class of the project: how it was made, and what filled and returned it.

    ``between``: how many calls of its methods were written after it was.
    """

    number: int
    type: str
    init: dict[str, Any] | None = None
    calls: list[dict[str, Any]] = field(default_factory=list)
    returned: list[dict[str, Any]] = field(default_factory=list)
    written: bool = False
    between: int = 0


def outward(each: Active | None) -> Iterator[Active]:
    """Yield a call and those around it, from the innermost."""
    while each is not None:
        yield each
        each = each.around


def is_of_a_loop(code: CodeType) -> bool:
    """True if a frame is asyncio's own, whichever loop it runs."""
    return code.co_name in RUNS_LOOPS and "asyncio" in code.co_filename
