"""Check the trajectories against the requests and answers in the server's log."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from art_adapt.paths import at
from art_adapt.recording.unhooked import MISSED
from art_adapt.rehearsal.checks.repeated import begins_longer
from art_adapt.rehearsal.parts import (
    EPISODE,
    RECORDS,
    ROLLOUT,
    calls,
    passes,
    reads,
    sets,
)
from art_adapt.rehearsal.protocol import History, Trajectory
from art_adapt.rehearsal.schemas import OWN_TEXT
from art_adapt.rehearsal.scripted_model import Exchange
from art_adapt.rehearsal.seen import (
    Finding,
    Seen,
    given_choices,
    identity,
    recorded_choices,
    start_of,
)

Json = dict[str, Any]


def unhooked(seen: Seen) -> Iterator[Finding]:
    """Report completions that were asked for without a hook."""
    calls = Counter(each for r in seen.notes.rollouts for each in r.unhooked)
    for call, count in calls.items():
        yield Finding(
            "unhooked",
            f"{call.asked} {MISSED} ({count} episodes)",
            call.remedy,
            Path(call.file),
            call.line,
        )


def complete(seen: Seen) -> Iterator[Finding]:
    """Report completions that are on no trajectory, or on more than one."""
    if seen.notes.stopped or seen.notes.raised:
        return  # with completions under way that nobody waited for
    given, recorded = given_choices(seen), recorded_choices(seen)
    missing = [each for each in given if each not in recorded]
    if missing:
        last = given[missing[0]].request["messages"][-1]
        yield seen.finding(
            "lost",
            f"{len(missing)} of {len(given)} completions are not on any trajectory, for example "
            f"the answer to {str(last.get('content'))[:60]!r}",
            "record the call: recorded(client.chat.completions.create)(...), inside the "
            "rollout",
            RECORDS,
            ROLLOUT,
        )
    twice = [each for each, count in recorded.items() if count > 1]
    if twice:
        yield seen.finding(
            "twice",
            f"{len(twice)} completions are recorded more than once",
            "create a new art.Trajectory in each rollout",
            calls("Trajectory"),
        )


def faithful(seen: Seen) -> Iterator[Finding]:
    """Report completions recorded with other messages or tools than were sent."""
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
            f"{toolless} completions were sampled with tools, but their trajectory has "
            "none: training would use a different prompt",
            "do not change trajectory.tools after recording",
            sets("tools"),
            ROLLOUT,
        )
    if wrong:
        yield seen.finding(
            "messages",
            f"{wrong} completions were recorded with other messages than were sent",
            "do not change messages_and_choices after recording",
            reads("messages_and_choices"),
            ROLLOUT,
        )


def _requests(
    history: History, given: Mapping[int, Exchange]
) -> Iterator[tuple[list[Json], Exchange]]:
    """Yield the messages before each completion of a history, and its exchange."""
    messages = [item.message for item in history.items]
    for number, item in enumerate(history.items):
        exchange = given.get(item.choice.mark) if item.choice is not None else None
        if exchange is not None:
            yield messages[:number], exchange


def _same_messages(ours: list[Json], theirs: list[Json]) -> bool:
    return len(ours) == len(theirs) and all(map(_same, ours, theirs))


def _same(ours: Json, theirs: Json) -> bool:
    if ours.get("role") != theirs.get("role"):
        return False
    if ours["role"] == "assistant":
        return identity(ours) == identity(theirs)
    return ours.get("content") == theirs.get("content")


SHORTEST = 3  # characters


# What else keeps episodes apart, by what does already.
OR_APART = {
    None: ", or adapt the agent again with --isolate process; if a file or a database keeps it, with "
    "--isolate copy",
    "process": "; if a file or a database keeps it, adapt the agent again with --isolate copy",
    "copy": ", or what keeps it outside of the project's folder",
}


def isolated(seen: Seen) -> Iterator[Finding]:
    """Report signs of state that rollouts share."""
    mixed = (
        _with_others_turns(seen.episodes)
        + sum(_grows(map(start_of, group.trajectories)) for group in seen.groups)
        + _alike_for_different_scenarios(seen)
        + begins_longer(seen)
    )
    if mixed:
        yield seen.finding(
            "cross-talk",
            "rollouts share state: episodes contain turns of other episodes, or start "
            "with messages that earlier episodes left behind",
            f"create the message list in each episode{OR_APART[seen.isolate]}{_outliving(seen)}",
            seen.shared,
            EPISODE,
            ROLLOUT,
        )


def _outliving(seen: Seen) -> str:
    """Name what the agent's source keeps beyond an episode, where that is several things."""
    several = [f"{what} ({at(place)})" for what, place in seen.agent.shared]
    return f". These outlive an episode: {', '.join(several)}" if several[1:] else ""


def kept(seen: Seen) -> Iterator[Finding]:
    """Report what one episode wrote and another episode read, as in a file.

    What the scripted model says, or gives tools as a text, is in one reply only.
    """
    written = [_own_texts(each) for each in seen.episodes]
    everything = set[str]().union(*written)
    read = [
        (item.message, text)
        for episode, own in zip(seen.episodes, written, strict=True)
        for history in episode.histories
        for item in history.items
        if item.choice is None and item.message.get("role") != "assistant"
        for text in OWN_TEXT.findall(json.dumps(item.message))
        if text in everything - own
    ]
    if read:
        message, text = read[0]
        yield seen.finding(
            "kept",
            f"an episode read {text!r} in a {message.get('role')} message, but the model said this in "
            f"another episode ({len(read)} such texts): data that is written outlives an episode",
            "give each episode its own data: create it in episode(), or adapt again with --isolate "
            f"process; if a file or a database keeps it, with --isolate copy{_outliving(seen)}",
            seen.shared,
            EPISODE,
            ROLLOUT,
        )


def _own_texts(episode: Trajectory) -> set[str]:
    """Return the texts that only the model can have said in an episode."""
    said = json.dumps([item.message for item in episode.choices])
    return set(OWN_TEXT.findall(said))


def _with_others_turns(episodes: list[Trajectory]) -> int:
    """Count episodes with an assistant message that was sampled in another episode."""
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
    """Tell whether episodes of one scenario start with different numbers of messages."""
    return len({len(start) for start in starts}) > 1


def _alike_for_different_scenarios(seen: Seen) -> bool:
    """Tell whether the first step's groups share a start that holds texts of several scenarios."""
    rows = [set(_texts_in(row)) for row in seen.notes.scenarios]
    count = Counter(text for row in rows for text in row)
    own = [{text for text in row if count[text] == 1} for row in rows]
    starts = [
        {json.dumps(asked) for each in group.trajectories if (asked := _users(each))}
        for step in seen.notes.steps[:1]
        for group in step
    ]
    return any(
        sum(any(json.dumps(text)[1:-1] in start for text in row) for row in own) > 1
        for start in (set.intersection(*starts) if len(starts) > 1 else ())
    )


def _users(episode: Trajectory) -> list[Json]:
    """Return what users say before an episode's first completion, if that is several messages."""
    users = [each for each in start_of(episode) if each.get("role") == "user"]
    return users if len(users) > 1 else []


def _texts_in(value: Any) -> Iterator[str]:
    """Yield the texts of a row that are not in another one by chance."""
    if isinstance(value, str) and len(value) >= SHORTEST:
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(each)


def exact(seen: Seen) -> Iterator[Finding]:
    """Report completions that ART cannot train on, or only turn by turn."""
    choices = [i.choice for t in seen.trained for i in t.choices if i.choice]
    without = [each for each in choices if not (each.ids and each.mark)]
    if without:
        yield seen.finding(
            "no ids",
            f"{len(without)} of {len(choices)} completions have no token ids or no "
            "logprobs: ART cannot train on them",
            "request logprobs and return_token_ids, as the recorder does for a call "
            "inside its rollout",
            passes("return_token_ids", "logprobs"),
            reads("logprobs"),
            ROLLOUT,
        )
    anew = sum(each.anew for each in choices)
    if anew:
        yield seen.finding(
            "rendered anew",
            f"{anew} of {len(choices)} prompts do not continue the tokens sampled before: "
            "the agent edits its messages, so each such turn is trained separately",
            "append the assistant's message as the SDK returned it",
            seen.asks,
            EPISODE,
            ROLLOUT,
        )
