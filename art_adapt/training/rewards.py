"""Puts the user's own reward on an episode."""

from __future__ import annotations

import inspect
import math
import reprlib
import sys
from collections.abc import Callable, Mapping
from traceback import extract_tb, format_exception_only
from typing import Any, TypeVar

import art

from art_adapt.recording.state import judging
from art_adapt.rehearsed import watch_reward
from art_adapt.reward_signs import NO_METRIC, PART
from art_adapt.training.threads import own_frame

MISREAD = (TypeError, AttributeError)  # of an object taken for another
T = TypeVar("T", bound=art.Trajectory)


class Metrics(dict[str, Any]):
    """The metrics of an episode as a reward function reads them.

    ``missed``: names that it asked for in vain, each with file and line. ``get`` gives it a
    default for a name that is misspelled, and the reward is wrong without an error.
    """

    def __init__(self, metrics: Mapping[str, Any]) -> None:
        super().__init__(metrics)
        self.missed: dict[str, str] = {}

    def get(self, name: str, default: Any = None) -> Any:
        if name not in self:
            code, line = sys._getframe(1).f_code, sys._getframe(1).f_lineno
            self.missed.setdefault(name, f"{code.co_filename}:{line}")
        return super().get(name, default)


class RewardError(Exception):
    """The reward function raised, or gave what is no reward: the episode is lost.

    ``error`` is what it raised, and ``path`` and ``line`` are where, if it is known. They are
    arguments so that they come from an episode's process as well.
    """

    def __init__(
        self, what: str, error: str = "", path: str = "", line: int = 0
    ) -> None:
        super().__init__(what, error, path, line)
        self.what, self.error, self.path, self.line = what, error, path, line

    def __str__(self) -> str:
        return self.what


async def scored(
    score: Callable[[Any, Any], Any], trajectory: T, scenario: object
) -> T:
    """Return the trajectory with the reward that ``score(trajectory, scenario)`` gives.

    ``score`` returns a number, or a dict of the parts whose sum is the reward: each
    becomes the metric ``reward_NAME``. It may be a coroutine function.

    Raises:
        RewardError: it raised, or a number is not finite: one such reward poisons its
            whole group. ``usable`` ends the run if that happens often: to drop the episodes
            on which a reward function fails selects the others.
    """
    watch_reward(score)
    read = Metrics(trajectory.metrics)
    vars(trajectory)["metrics"] = read  # what is assigned, ART 0.5.23 copies
    try:
        with judging():
            given = score(trajectory, scenario)
            if inspect.isawaitable(given):
                given = await given
    except Exception as error:
        of_answer = _kind_of_answer(trajectory) * isinstance(error, MISREAD)
        what = f"the reward function failed: {error!r}{of_answer}"
        said = format_exception_only(error)[-1].strip()  # its own __str__ may raise
        said += of_answer
        frame = own_frame(extract_tb(error.__traceback__))
        if frame is None:
            raise RewardError(what, said, *_definition(score)) from error
        raise RewardError(what, said, frame.filename, frame.lineno or 0) from error
    finally:
        trajectory.metrics = dict(trajectory.metrics)
    for name, place in read.missed.items():
        trajectory.log(f"{NO_METRIC}{name} at {place}")
    if isinstance(given, Mapping) and given:
        parts = {str(n): _number(part, score, str(n)) for n, part in given.items()}
        trajectory.metrics |= {f"{PART}{name}": p for name, p in parts.items()}
        given = sum(parts.values())
    trajectory.reward = _number(given, score)
    return trajectory


def _number(given: Any, score: Callable[[Any, Any], Any], part: str = "") -> float:
    """Return what a reward function gave, or a ``part`` of it, as a number.

    Raises:
        RewardError: it is none, or not finite.
    """
    of_part = f" for {part}" * bool(part)
    try:
        if isinstance(given, bytes | Mapping) or (isinstance(given, str) and not part):
            raise TypeError
        number = float(given)
    except Exception:  # whatever its own methods raise
        said = f"it returned {_shown(given)}{of_part}, which is no number"
        what = f"the reward function failed: {said}"
        raise RewardError(what, f"TypeError: {said}", *_definition(score)) from None
    if math.isfinite(number):
        return number
    raise RewardError(
        f"the reward is {number}{of_part}, which would spoil its whole group: return a finite number",
        f"ValueError: the reward is {number}{of_part}, which would spoil its whole group",
        *_definition(score),
    )


def _shown(value: Any) -> str:
    try:
        return reprlib.repr(value)
    except Exception:
        return f"a {type(value).__name__}"


def _kind_of_answer(trajectory: art.Trajectory) -> str:
    """Say of which class the answer is that a reward function reads, if it is no text."""
    answer = getattr(trajectory, "final_answer", None)
    is_text = isinstance(answer, str | None)
    return "" if is_text else f" (final_answer is a {type(answer).__name__})"


def _definition(score: Callable[[Any, Any], Any]) -> tuple[str, int]:
    """Return where a reward function is defined, if Python knows."""
    code = getattr(inspect.unwrap(score), "__code__", None)
    return ("", 0) if code is None else (code.co_filename, code.co_firstlineno)
