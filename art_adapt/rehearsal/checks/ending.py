"""How the train module ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from art_adapt.rehearsal.seen import Finding, Seen


def ended(seen: Seen) -> Iterator[Finding]:
    raised, stopped = seen.notes.raised, seen.notes.stopped
    if raised:
        yield Finding(
            "raised",
            f"the train module raised {raised.error}",
            "mend it there: on a GPU it would end the run in the same place",
            Path(raised.path),
            raised.line,
        )
    if stopped and stopped != "0":
        lost = seen.notes.exceptions
        fix = "do what it asks for, then rehearse again"
        if lost:
            stopped += f"; the first episode was lost to {lost[0]}"
        yield seen.finding("stopped", f"it stopped: {stopped}", fix, r"def main\b")
    if not (raised or stopped or seen.notes.steps):
        yield seen.finding(
            "no step",
            "it ended without a single training step",
            "check that it has scenarios and calls backend.train",
            r"backend\.train",
            r"def train\b",
        )


def stopped_rollouts(seen: Seen) -> Iterator[Finding]:
    reasons = Counter(r.stopped for r in seen.notes.rollouts if r.stopped)
    for reason, count in reasons.items():
        yield seen.finding(
            "stopped rollouts",
            f"{count} rollouts were stopped: {reason}",
            "see the message",
            r"art_recording\.rollout",
        )


def closed(seen: Seen) -> Iterator[Finding]:
    if seen.notes.steps and not seen.notes.closed:
        yield seen.finding(
            "not closed",
            "the backend was not closed: its GPU processes would live on",
            "await backend.close() in a finally clause",
            r"make_backend\(|LocalBackend\(",
        )
