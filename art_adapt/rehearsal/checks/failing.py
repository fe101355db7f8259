"""Check whether episodes failed, and tell an agent's own limit of turns from a failure."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from art_adapt.code.syntax import LOOPS, Syntax
from art_adapt.recording.unhooked import MISSED
from art_adapt.rehearsal.checks.remedies import (
    in_another_folder,
    is_of_rollout,
    raised_at,
    unrequired,
    whole_fix,
)
from art_adapt.rehearsal.observed import ANSWERED
from art_adapt.rehearsal.parts import EPISODE, ROLLOUT
from art_adapt.rehearsal.protocol import Trajectory
from art_adapt.rehearsal.repeats import SAME, SAME_AGAIN, UNENDING
from art_adapt.rehearsal.schemas import OWN_TEXT
from art_adapt.rehearsal.seen import FEW, Finding, Seen, given_choices
from art_adapt.source import read_source

ENOUGH = 4  # episodes that ended well, to tell that it is no chance
SCRIPTED_FAILURE = "scripted failure"  # what the server said on purpose
REWARD_ERROR = "RewardError: "


@dataclass(frozen=True)
class Failures:
    """How many rollouts began, and with what those of them ended that failed.

    ``own`` are the failures before which the scripted model made no mistake. ``limited`` are those
    of episodes that reached the agent's own limit of turns; the other two leave them out. ``well``
    counts those that ended well and whose model made no mistake.
    """

    began: int
    every: tuple[str, ...]
    own: tuple[str, ...]
    limited: tuple[str, ...]
    well: int

    @property
    def are_many(self) -> bool:
        """True if training would lose episodes, or learn of nothing but mistakes.

        A model that is asked thirty times makes some mistake in most episodes.
        """
        misled_alone = not self.own and self.well >= ENOUGH
        often = 2 * len(self.every) > self.began and not misled_alone
        return often or FEW * len(self.own) > self.began

    @property
    def usual(self) -> tuple[str, int]:
        """Return what most ended with, those of the agent's own if there are, and how many."""
        told = self.own or self.every
        kind, count = Counter(map(without_accidents, told)).most_common(1)[0]
        return next(each for each in told if without_accidents(each) == kind), count


def failures(seen: Seen) -> Failures:
    """Return the failures of a rehearsal's episodes, lost ones too."""
    limit, most = turn_limit(seen), _asked_without_end(seen)

    def is_at_limit(episode: Trajectory) -> bool:
        last = episode.choices[-1].message if episode.choices else {}
        return (
            limit is not None
            and without_accidents(episode.failure or "") == without_accidents(limit)
            and bool(last.get("tool_calls"))
            and len(episode.choices) == most
        )

    # One that never called the model is lost, and left a failure as well.
    failed = [t for t in seen.episodes if t.failure is not None and t.histories]
    limited = [t for t in failed if is_at_limit(t)]
    if 2 * len(limited) > len(seen.episodes):
        limited = []  # an agent that is meant to end says something else
    kept = [t for t in failed if t not in limited]
    # What the reward raises has a finding of its own, as has a call without a hook.
    lost = [
        each
        for each in seen.notes.exceptions
        if not each.startswith(REWARD_ERROR) and MISSED not in each
    ]
    misleading = {mark for mark, e in given_choices(seen).items() if e.fault}

    def is_misled(episode: Trajectory) -> bool:
        marks = {item.choice.mark for item in episode.choices if item.choice}
        return not marks.isdisjoint(misleading)

    own = [t.failure or "" for t in kept if not is_misled(t)]
    well = [t for t in seen.episodes if t.failure is None and t.choices]
    return Failures(
        # An episode's process that was ended has noted nothing.
        max(len(seen.notes.rollouts), len(seen.trained) + len(lost)),
        (*(t.failure or "" for t in kept), *lost),
        tuple(each for each in (*own, *lost) if SCRIPTED_FAILURE not in each),
        tuple(t.failure or "" for t in limited),
        sum(not (is_misled(t) or t.timed_out) for t in well),
    )


def _asked_without_end(seen: Seen) -> int:
    """Return how many requests the episode made whose model never stops."""
    return sum(each.phase == UNENDING and each.is_policy for each in seen.repeats)


def _unended(seen: Seen) -> str | None:
    """Return what that episode raised."""
    end = seen.notes.repeat(UNENDING)
    return None if end is None else end.failure


def turn_limit(seen: Seen) -> str | None:
    """Return what the agent raises at its limit of turns, with the line; None if nothing.

    An episode whose model never stops ended with it: a ``raise`` below a loop that calls the
    model turn after turn, or in it where a comparison decides, after more than two requests.
    A tool that fails raises at once.
    """
    place = raised_at(_unended(seen) or "")
    if place is None or not place.path.is_file():
        return None
    path, line = place.path.resolve(), place.line
    syntax = Syntax.of(read_source(path))
    starts = {loop.line for loop in seen.agent.loops if loop.path.resolve() == path}
    asked = _asked_without_end(seen)
    loops = [n for n in syntax.nodes if isinstance(n, LOOPS) and n.lineno in starts]
    is_at_limit = any(
        isinstance(node, ast.Raise)
        and node.lineno <= line <= (node.end_lineno or 0)
        and syntax.owner(node) == syntax.owner(loop)
        and (
            line > (loop.body[-1].end_lineno or 0)
            or (asked > 2 and _is_counted(syntax, node))
        )
        for node in syntax.nodes
        for loop in loops
    )
    return _unended(seen) if is_at_limit else None


def _is_counted(syntax: Syntax, node: ast.Raise) -> bool:
    """True if a comparison alone decides whether a ``raise`` is reached: ``if turn > most:``."""
    around = syntax.parents[node]
    return isinstance(around, ast.If) and isinstance(around.test, ast.Compare)


def failed_episodes(seen: Seen) -> Iterator[Finding]:
    """Report episodes that ended with an exception, or were lost.

    An agent may fail where the scripted model does something wrong on purpose: that is a
    finding where most do and it is not known to end well otherwise.
    """
    found = failures(seen)
    count = len(found.every)
    if found.are_many:
        failure, alike = found.usual
        misled = count - len(found.own)
        beside = f" ({misled} after a mistake of the scripted model)" if misled else ""
        times = f" {alike} times" * (alike > 1)
        yield seen.finding(
            "failed",
            f"{count} of {found.began} episodes failed{beside},{times} with: {failure}",
            unrequired(seen, failure)
            or in_another_folder(seen, failure)
            or f"{_alone(seen, found)}{whole_fix(seen, failure)}",
            seen.shared if ANSWERED in failure else raised_at(failure),
            ROLLOUT if is_of_rollout(failure) else EPISODE,
        )


def _alone(seen: Seen, found: Failures) -> str:
    """Say that an episode ended well that ran alone, before the others and after them."""
    ends = [seen.notes.repeat(phase) for phase in (SAME, SAME_AGAIN)]
    if not found.own or not all(end is not None and end.is_well for end in ends):
        return ""
    asked = "never called the model" not in found.usual[0]
    if asked and any(end is not None and end.replayed for end in ends):
        return ""  # it was told what the model said in a run
    return (
        "an episode that ran alone ended well: if those side by side share a service, a lock or a "
        "file, set CONCURRENCY = 1; else "
    )


def without_accidents(text: str) -> str:
    """Leave out what makes one message many: addresses, and what the scripted model made up."""
    return OWN_TEXT.sub("", re.sub(r" at 0x[0-9a-f]+", "", text))
