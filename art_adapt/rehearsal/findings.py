"""Everything that a rehearsal finds wrong, each with its place and what to change."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from art_adapt.rehearsal.checks import ending, groups, recording, requests
from art_adapt.rehearsal.seen import Finding, Seen

CHECKS: tuple[Callable[[Seen], Iterator[Finding]], ...] = (
    ending.ended,
    requests.inference_name,
    requests.judge,
    ending.stopped_rollouts,
    recording.complete,
    recording.faithful,
    recording.isolated,
    recording.exact,
    groups.awaited_early,
    groups.rewards,
    groups.answers,
    groups.metrics,
    requests.temperature,
    ending.closed,
)


def findings(seen: Seen) -> list[Finding]:
    """Everything that would go wrong, worst first."""
    return [found for check in CHECKS for found in check(seen)]
