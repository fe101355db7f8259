"""Check how the train module and its rollouts ended."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from art_adapt.rehearsal.seen import Finding, Seen


def ended(seen: Seen) -> Iterator[Finding]:
    """Report a module that raised, stopped, or ended before its first step."""
    raised, stopped = seen.notes.raised, seen.notes.stopped
    if raised:
        yield Finding(
            "raised",
            f"the train module raised {raised.error}",
            _remedy(raised.error),
            Path(raised.path),
            raised.line,
        )
    if stopped and stopped != "0":
        lost = seen.notes.exceptions
        fix = "do what it asks for, then rehearse again"
        if lost:
            stopped += f"; the first lost episode raised {lost[0]}"
        yield seen.finding(
            "stopped", f"the train module stopped: {stopped}", fix, r"def main\b"
        )
    if not raised and not seen.notes.steps and stopped in (None, "0"):
        yield seen.finding(
            "no step",
            "the train module ended without a single training step",
            "check that there are scenarios and that it calls backend.train",
            r"backend\.train",
            r"def train\b",
        )


def _remedy(error: str) -> str:
    missing = re.match(r"ModuleNotFoundError: No module named '([\w.]+)'", error)
    if missing is not None:
        name = missing[1].partition(".")[0]
        return f"install it here: pip install {name} (its name there may be another)"
    return "fix it there: on a GPU it would end the run at the same place"


def failed_episodes(seen: Seen) -> Iterator[Finding]:
    """Report that most episodes ended with an exception, or were lost."""
    failures = [t.failure for t in seen.episodes if t.failure is not None]
    lost = seen.notes.exceptions
    began = len(seen.notes.rollouts) or len(seen.episodes) + len(lost)
    # One that never called the model is lost, and left a failure as well.
    kept = sum(t.failure is not None and bool(t.histories) for t in seen.episodes)
    if 2 * (kept + len(lost)) > began:
        first = [*failures, *lost][0]
        yield seen.finding(
            "failed",
            f"{kept + len(lost)} of {began} episodes failed; the first: {first}",
            "make the agent run here, too: a service or a key that it needs, or what "
            "episode() passes; an error that it should survive counts against the model",
            r"def episode",
        )


def stopped_rollouts(seen: Seen) -> Iterator[Finding]:
    """Report rollouts in which the recorder refused a call that has a hook."""
    reasons = Counter(
        r.stopped
        for r in seen.notes.rollouts
        if r.stopped
        and not any(r.stopped.startswith(f"{u.file}:{u.line}: ") for u in r.unhooked)
    )
    for reason, count in reasons.items():
        yield seen.finding(
            "stopped rollouts",
            f"the recorder stopped {count} rollouts: {reason}",
            "do what the message says",
            r"training\.record\(|\brollout\(",
        )


def closed(seen: Seen) -> Iterator[Finding]:
    """Report a backend that was never closed."""
    if seen.notes.steps and not seen.notes.closed:
        yield seen.finding(
            "not closed",
            "the backend was never closed: its GPU processes would keep running",
            "await backend.close() in a finally clause",
            r"make_backend\(|LocalBackend\(",
        )
