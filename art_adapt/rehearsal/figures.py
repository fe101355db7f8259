"""Summarise a rehearsal in numbers."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass

from art_adapt.rehearsal.checks.failing import failures
from art_adapt.rehearsal.protocol import Group
from art_adapt.rehearsal.replies import is_judgement
from art_adapt.rehearsal.roles import Role, roles
from art_adapt.rehearsal.seen import (
    Seen,
    given_choices,
    has_answer,
    offered_tools,
    recorded_choices,
    tool_calls,
)


@dataclass(frozen=True)
class Figures:
    """The numbers of a rehearsal."""

    steps: int
    episodes: int
    lost: int
    failed: int  # ended with an exception of the agent
    failure: str | None  # what most of those ended with
    limited: int  # that failed at the agent's own limit of turns
    misled: int  # that failed after a mistake of the scripted model
    calls: int  # choices sampled from the model in training
    recorded: int  # calls that are on trajectories
    auxiliary: int  # completions of other models, but for the judge
    judged: int  # groups that RULER's judge was asked about
    embeddings: int  # requests for some
    tools: dict[str, int]  # that were offered in some request: calls by the model
    tool_calls: int  # that the model made, of unknown tools too
    histories: float  # per episode
    answered: int
    turns: float  # per episode
    prompt_tokens: float  # per episode
    sampled_tokens: float  # per episode
    seconds: float  # per episode
    reward_mean: float | None
    reward_spread: float | None
    groups: int
    flat_groups: int
    roles: tuple[Role, ...]  # that an episode trains, if there are several


def figures(seen: Seen) -> Figures:
    """Count what was seen."""
    episodes = seen.episodes
    count = max(1, len(episodes))
    rewards = [t.reward for t in seen.trained]
    # Rollouts in processes of their own are not seen.
    seconds = [r.seconds for r in seen.notes.rollouts or episodes if r.seconds]
    ended = failures(seen)
    called = Counter(call["function"]["name"] for call in tool_calls(seen))
    beside = [e for e in seen.log if not e.is_policy]
    judged = sum(is_judgement(each.request) for each in beside)
    usage = [e.response["usage"] for e in seen.policy if e.response]
    return Figures(
        steps=len(seen.notes.steps),
        episodes=len(episodes),
        lost=len(seen.notes.exceptions),
        failed=sum(t.failure is not None for t in episodes),
        failure=ended.usual[0] if ended.every else next(iter(ended.limited), None),
        limited=len(ended.limited),
        misled=len(ended.every) - len(ended.own),
        calls=len(given_choices(seen)),
        recorded=sum(recorded_choices(seen).values()),
        auxiliary=len(beside) - judged,
        judged=judged,
        embeddings=len(seen.embedded),
        tools={name: called[name] for name in offered_tools(seen)},
        tool_calls=called.total(),
        histories=sum(len(t.histories) for t in episodes) / count,
        answered=sum(has_answer(t) and bool(t.choices) for t in episodes),
        turns=sum(len(t.choices) for t in episodes) / count,
        prompt_tokens=sum(u["prompt_tokens"] for u in usage) / count,
        sampled_tokens=sum(u["completion_tokens"] for u in usage) / count,
        seconds=statistics.fmean(seconds) if seconds else 0.0,
        reward_mean=statistics.fmean(rewards) if rewards else None,
        reward_spread=statistics.pstdev(rewards) if rewards else None,
        groups=len(seen.groups),
        flat_groups=sum(map(is_flat, seen.groups)),
        roles=roles(seen),
    )


def is_flat(group: Group) -> bool:
    """Tell whether all episodes of a group have the same reward, which teaches nothing."""
    return len({trajectory.reward for trajectory in group.trajectories}) == 1
