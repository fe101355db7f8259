"""Find what would go wrong in training, with its place and what to change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from art_adapt.rehearsal.checks import (
    as_seen,
    conversations,
    ending,
    failing,
    groups,
    outside,
    recording,
    requests,
    rewards,
    rows,
    threads,
    tools,
    unreached,
    witnesses,
)
from art_adapt.rehearsal.seen import Finding, Seen

CHECKS: tuple[Callable[[Seen], Iterator[Finding]], ...] = (
    # What would end the run, or a step of ART's, in other words.
    conversations.not_text,
    conversations.parsed,
    outside.command_line,
    ending.ended,
    ending.asked_at_import,
    requests.base_model,
    requests.inference_name,
    requests.judge,
    ending.stopped_rollouts,
    as_seen.otherwise,
    as_seen.same_row,
    witnesses.told_apart,
    tools.tool_loop,
    tools.none_offered,
    tools.tools_fail,
    unreached.programs,
    ending.endless,
    failing.failed_episodes,
    ending.out_of_time,
    threads.bound_to_main_thread,
    outside.changed_files,
    conversations.paired,
    conversations.continued,
    conversations.said_by_others,
    conversations.own_template,
    recording.unhooked,
    recording.complete,
    recording.faithful,
    recording.isolated,
    recording.kept,
    recording.exact,
    groups.awaited_early,
    rows.reward_keys,
    rewards.rewards,
    groups.answers,
    groups.echoed_answers,
    groups.same_answers,
    groups.earlier_answers,
    groups.opaque_answers,
    groups.metrics,
    rewards.missed_metrics,
    requests.auxiliary,
    requests.temperature,
    requests.empty_tools,
    ending.closed,
)


# What another finding may be the cause of: a request that is not recorded has no reward.
FOLLOW: dict[str, tuple[str, ...]] = {
    "failed": ("answer", "same answer", "reward"),
    "unhooked": (
        "stopped",
        "lost",
        "failed",
        "tool fails",
        "answer",
        "same answer",
        "reward",
    ),
    "stopped rollouts": ("lost", "failed", "answer", "reward"),
    "cross-talk": (
        "otherwise",
        "kept",
        "reply without a call",
        "call without a reply",
        "history a turn",
        "rendered anew",
    ),
    "threads": ("tool fails",),
    "tools never ran": ("call without a reply", "answer", "same answer"),
}


def findings(seen: Seen) -> list[Finding]:
    """Run all checks and return their findings, worst first; what may follow from others last."""
    return _causes_first([found for check in CHECKS for found in check(seen)])


def _causes_first(found: list[Finding]) -> list[Finding]:
    there = {each.name for each in found}
    causes = {
        name: cause for cause in FOLLOW if cause in there for name in FOLLOW[cause]
    }
    following = [
        replace(
            each, fix=f"fix {causes[each.name]!r} first, which may cause it; {each.fix}"
        )
        for each in found
        if each.name in causes
    ]
    return [each for each in found if each.name not in causes] + following
