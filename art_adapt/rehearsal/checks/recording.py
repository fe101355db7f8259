"""What is on the trajectories, against what the server was asked and gave."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from art_adapt.rehearsal.protocol import History, Trajectory
from art_adapt.rehearsal.scripted_model import Exchange
from art_adapt.rehearsal.seen import (
    Finding,
    Seen,
    given_choices,
    identity,
    recorded_choices,
)

Json = dict[str, Any]


def complete(seen: Seen) -> Iterator[Finding]:
    """Each completion of the model in training is on one trajectory, once."""
    given, recorded = given_choices(seen), recorded_choices(seen)
    missing = [each for each in given if each not in recorded]
    if missing:
        last = given[missing[0]].request["messages"][-1]
        yield seen.finding(
            "lost",
            f"{len(missing)} of {len(given)} completions are on no trajectory, one of "
            f"them the answer to {str(last.get('content'))[:60]!r}",
            "record the call: recorded(client.chat.completions.create)(...), inside the "
            "rollout",
            r"art_recording\.rollout",
            r"def rollout",
        )
    twice = [each for each, count in recorded.items() if count > 1]
    if twice:
        yield seen.finding(
            "twice",
            f"{len(twice)} completions are on trajectories more than once",
            "make a new art.Trajectory in each rollout",
            r"Trajectory\(\)",
        )


def faithful(seen: Seen) -> Iterator[Finding]:
    """Before each completion stand the messages that were sent, beside them the tools."""
    given = given_choices(seen)
    wrong, toolless = 0, 0
    for trajectory in seen.episodes:  # what is trained may be a view of it
        for history in trajectory.histories:
            for before, exchange in _requests(history, given):
                wrong += not _same_messages(before, exchange.request["messages"])
                toolless += bool(exchange.request.get("tools")) and not history.tools
    if toolless:
        yield seen.finding(
            "tools",
            f"{toolless} completions were sampled with tools, and their trajectory has "
            "none: training would show the model another prompt",
            "leave trajectory.tools as it was recorded",
            r"\.tools\b.*=",
            r"def rollout",
        )
    if wrong:
        yield seen.finding(
            "messages",
            f"before {wrong} completions the trajectory has other messages than were sent",
            "leave messages_and_choices as they were recorded",
            r"messages_and_choices",
            r"def rollout",
        )


def _requests(
    history: History, given: Mapping[int, Exchange]
) -> Iterator[tuple[list[Json], Exchange]]:
    """For each completion of a history the messages before it and its exchange."""
    messages = [item.message for item in history.items]
    for at, item in enumerate(history.items):
        exchange = given.get(item.choice.mark) if item.choice is not None else None
        if exchange is not None:
            yield messages[:at], exchange


def _same_messages(ours: list[Json], theirs: list[Json]) -> bool:
    return len(ours) == len(theirs) and all(map(_same, ours, theirs))


def _same(ours: Json, theirs: Json) -> bool:
    if ours.get("role") != theirs.get("role"):
        return False
    if ours["role"] == "assistant":
        return identity(ours) == identity(theirs)
    return ours.get("content") == theirs.get("content")


def isolated(seen: Seen) -> Iterator[Finding]:
    """No episode sees another's turns, whether in its messages or in how it begins."""
    mixed = (
        _with_others_turns(seen.episodes)
        + sum(_grows(map(_start, group.trajectories)) for group in seen.groups)
        + _alike_for_different_scenarios(seen)
    )
    if mixed:
        yield seen.finding(
            "cross-talk",
            "episodes have others' turns in their messages, or begin with as many as "
            "ran before, or alike for different scenarios: state is shared between "
            "rollouts",
            "make the message list anew in each episode, or adapt the agent again with "
            "--isolate process",
            r"run_episode|def rollout",
        )


def _with_others_turns(episodes: list[Trajectory]) -> int:
    """How many episodes have an assistant's message that another one's model said."""
    said = Counter(identity(i.message) for t in episodes for i in t.choices)
    owners = {
        key: number
        for number, trajectory in enumerate(episodes)
        for item in trajectory.choices
        if said[key := identity(item.message)] == 1
    }
    return sum(
        any(
            owners.get(identity(item.message), number) != number
            for history in trajectory.histories
            for item in history.items
            if item.message.get("role") == "assistant" and item.choice is None
        )
        for number, trajectory in enumerate(episodes)
    )


def _grows(starts: Iterator[list[Json]]) -> bool:
    """Whether episodes of one scenario begin with different numbers of messages."""
    return len({len(start) for start in starts}) > 1


def _alike_for_different_scenarios(seen: Seen) -> bool:
    """Whether groups of the first step share a beginning of several users' messages."""
    starts = [
        {json.dumps(start) for start in map(_start, group.trajectories) if _long(start)}
        for step in seen.notes.steps[:1]
        for group in step
    ]
    return len(starts) > 1 and bool(set.intersection(*starts))


def _start(trajectory: Trajectory) -> list[Json]:
    """The messages that an episode began with."""
    items = trajectory.histories[0].items if trajectory.histories else ()
    before = itertools.takewhile(lambda item: item.choice is None, items)
    return [item.message for item in before]


def _long(start: list[Json]) -> bool:
    """Whether more than one user spoke before the model did."""
    users = [message for message in start if message.get("role") == "user"]
    return len(users) > 1


def exact(seen: Seen) -> Iterator[Finding]:
    """ART has the token ids to train on, and prompts that continue what was sampled."""
    choices = [i.choice for t in seen.trained for i in t.choices if i.choice]
    without = [each for each in choices if not (each.ids and each.mark)]
    if without:
        yield seen.finding(
            "no ids",
            f"{len(without)} of {len(choices)} completions came without token ids or "
            "logprobs: ART cannot train on them",
            "ask for logprobs and return_token_ids, as art_recording does for a call "
            "inside its rollout",
            r"return_token_ids|logprobs",
            r"def rollout",
        )
    anew = sum(each.anew for each in choices)
    if anew:
        yield seen.finding(
            "rendered anew",
            f"{anew} of {len(choices)} prompts do not go on from what was sampled: the "
            "agent edits its messages, and each such turn is trained by itself",
            "append the assistant's message as the SDK gave it",
            r"def run_episode|def rollout",
        )
