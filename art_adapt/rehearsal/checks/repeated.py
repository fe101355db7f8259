"""Say what repeated episodes show: whether they begin anew, and whether they end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from art_adapt.rehearsal.checks.failing import turn_limit
from art_adapt.rehearsal.repeats import (
    LATER,
    LATER_AGAIN,
    LONGEST,
    MOST_REQUESTS,
    REFUSING,
    SAME,
    SAME_AGAIN,
    UNENDING,
)
from art_adapt.rehearsal.replies import REFUSAL
from art_adapt.rehearsal.seen import Seen, Witness, offered_tools, shortened

Json = dict[str, Any]
# What a phase of the repeated episodes tries.
AS_A_RUN = "whether it asks what a watched run asked"
ANEW = "whether it begins anew each time"
TRIED = {
    SAME: (AS_A_RUN, ANEW),
    LATER: (AS_A_RUN, ANEW),
    SAME_AGAIN: (ANEW,),
    REFUSING: ("what it answers where its model refuses",),
}
OF_CHANCE = (
    "; if chance draws the task, the members of a group get different ones: let a field of the "
    "scenario set it, such as a seed"
)
AN_ANSWER = 20  # characters of a text that a judge may take for one


def witnesses(seen: Seen) -> Iterator[Witness]:
    """Yield what was seen of an episode that ran first and last, and of one whose model never stops."""
    yield from _anew(seen)
    late = [
        p for p in TRIED if (end := seen.notes.repeat(p)) is not None and end.is_late
    ]
    if late:
        tried = " nor ".join(
            dict.fromkeys(each for phase in late for each in TRIED[phase])
        )
        yield Witness(
            "an episode that is run again ends in time",
            False,
            f"an episode takes longer than {LONGEST:g} s, so it was not tried {tried}",
        )
    asked = len(_asked(seen, UNENDING))
    if asked and offered_tools(seen):
        end = seen.notes.repeat(UNENDING)
        ended = end is not None and end.is_well and asked <= MOST_REQUESTS
        count, otherwise = f"{asked} request{'s' * (asked != 1)}", ""
        if end is not None and end.is_late and asked <= MOST_REQUESTS:
            count = f"not after {LONGEST:g} s and {count}"
            otherwise = (
                "an episode whose model keeps calling tools had not ended after "
                f"{LONGEST:g} s and {asked} requests: it was stopped there"
            )
        elif not ended and asked <= MOST_REQUESTS:
            at_limit = " at its own limit of turns" * (turn_limit(seen) is not None)
            count = f"failed after {count}{at_limit}"
            otherwise = f"an episode whose model keeps calling tools {count}"
        elif not ended:
            count = f"not after {MOST_REQUESTS}"
            otherwise = (
                "an episode whose model keeps calling tools had not ended after "
                f"{MOST_REQUESTS} requests: it was stopped there"
            )
        statement = f"an episode ends although its model keeps calling tools: {count}"
        yield Witness(statement, ended, otherwise)
    yield from _refused(seen)


def _anew(seen: Seen) -> Iterator[Witness]:
    """Yield whether an episode asks the same when it is run again, after the steps."""
    pairs = [
        (first, again, end)
        for first, again in ((SAME, SAME_AGAIN), (LATER, LATER_AGAIN))
        if (begun := seen.notes.repeat(first)) is not None
        and begun.is_well
        and (end := seen.notes.repeat(again)) is not None
        and not end.is_late
    ]
    if not pairs:
        return
    for first, again, end in pairs:
        number, apart = _apart(_asked(seen, first), _asked(seen, again))
        if end.failure is not None:
            apart = f"run again, the episode failed: {end.failure}"
        if apart:
            break
    yield Witness(
        "the same scenario and the same replies lead to the same requests"
        + (f": {apart}" if apart else ""),
        not apart,
        f"the same scenario and the same replies led to other requests: {apart}"
        f"{OF_CHANCE * (number == 1)}",
    )


def _refused(seen: Seen) -> Iterator[Witness]:
    """Yield what the code answers by itself where its model refuses, if that may be worth something.

    A reward as code says what it is worth. RULER's judge reads it as an answer, if it is one.
    """
    told, bounds = seen.notes.refused, seen.notes.bounds
    others = (e for e in seen.repeats if e.phase == REFUSING and not e.is_policy)
    if told is None or bounds is None or not told.is_own or any(True for _ in others):
        return  # another model may have said it
    rewards = [each.reward for each in seen.trained]
    below = sum(reward <= told.reward for reward in rewards)
    worth = f", with a reward of {told.reward:.3g}: {below} of {len(rewards)} other episodes got no more"
    if len(told.answer) >= AN_ANSWER if bounds.judge else 2 * below >= len(rewards) > 0:
        yield Witness(
            "an episode whose model refuses has no answer",
            False,
            f"an episode whose model only says {REFUSAL!r} answered {shortened(told.answer)}"
            f"{worth * (not bounds.judge)}. The code answered by itself: give that a low reward, or "
            "no final answer",
        )


def begins_longer(seen: Seen) -> bool:
    """True if a scenario that ran first and last began with more messages the second time.

    Other episodes ran in between, and one of them or the first left those behind.
    """
    logs = _asked(seen, SAME)[:1], _asked(seen, SAME_AGAIN)[:1]
    counts = [len(request.get("messages") or []) for log in logs for request in log]
    return len(counts) == 2 and counts[0] < counts[1]


def _asked(seen: Seen, phase: str) -> list[Json]:
    """Return the requests of a phase, but for the step of the model that they name."""
    return [
        {key: value for key, value in each.request.items() if key != "model"}
        for each in seen.repeats
        if each.is_policy and each.phase == phase
    ]


def _apart(first: list[Json], second: list[Json]) -> tuple[int, str]:
    """Return the number of the first request that differs, or 0, and where two logs part, or "".

    Requests that are made side by side come in any order.
    """
    left = list(first)
    for number, (was, request) in enumerate(zip(first, second, strict=False), 1):
        if request not in left:
            return number, f"request {number} differs{_where(was, request)}"
        left.remove(request)
    if len(first) != len(second):
        return 0, f"{len(first)} requests, then {len(second)}"
    return 0, ""


def _where(one: Json, other: Json) -> str:
    before, after = one.get("messages") or [], other.get("messages") or []
    for number, (was, is_now) in enumerate(zip(before, after, strict=False), 1):
        if was != is_now:
            return f" in message {number} ({is_now.get('role')})"
    if len(before) != len(after):
        return f", with {len(before)} messages, then {len(after)}"
    return ""
