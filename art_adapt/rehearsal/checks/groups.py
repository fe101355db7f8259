"""What the train module hands to training: groups, rewards, answers, metrics."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from art_adapt.rehearsal.figures import is_flat
from art_adapt.rehearsal.seen import Finding, Seen


def awaited_early(seen: Seen) -> Iterator[Finding]:
    if seen.notes.awaited_early:
        yield seen.finding(
            "awaited early",
            "groups were awaited before gather_trajectory_groups: it neither runs them "
            "side by side nor counts their failures",
            "hand art.TrajectoryGroup(...) over without await",
            r"await art\.TrajectoryGroup|await .*TrajectoryGroup",
            r"gather_trajectory_groups",
        )


def rewards(seen: Seen) -> Iterator[Finding]:
    rewards = [t.reward for t in seen.trained]
    if not rewards:
        return
    if len(set(rewards)) == 1 and len(rewards) > 1:
        yield seen.finding(
            "reward",
            f"every episode got the reward {rewards[0]}: a group without variance "
            "teaches nothing",
            "make the reward depend on what the episode did; if only a right answer is "
            "rewarded, let the scripted model give some, with --replies",
            r"trajectory\.reward\s*=|def reward|reward\(",
            r"recording\.rewarded",
        )
    elif all(map(is_flat, seen.groups)):
        yield seen.finding(
            "reward",
            "rewards differ between scenarios but in no group: GRPO compares the "
            "episodes of one scenario",
            "make the reward depend on what the episode did",
            r"trajectory\.reward\s*=|def reward|reward\(",
        )


def answers(seen: Seen) -> Iterator[Finding]:
    if seen.trained and all(t.answer is None for t in seen.trained):
        yield seen.finding(
            "answer",
            "no episode set trajectory.final_answer: a reward that reads it sees None",
            "put final_answer(...) around what the agent answers with (art-adapt does) "
            "and record into an AgentTrajectory, which has the field; if an answer takes "
            "a certain call, let the scripted model make it, with --replies",
            r"=\s*(AgentTrajectory|art\.Trajectory)\(",
            r"def rollout",
        )


def metrics(seen: Seen) -> Iterator[Finding]:
    bad = Counter(name for t in seen.episodes for name in t.bad_metrics)
    for name in bad:
        yield seen.finding(
            "metrics",
            f"metrics[{name!r}] is no number: ART counts the episode as failed, and "
            "model.log breaks",
            "put text into metadata or logs",
            rf"metrics\[.{re.escape(name)}.\]",
            r"metrics",
        )
