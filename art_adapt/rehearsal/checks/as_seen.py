"""Compare what episodes ask with what the agent asked in runs that were seen.

A prompt that is not handed on, tools that only a factory adds, a field that keeps its default, an
object that another one fills: nothing in an episode tells that it lacks them. The run has them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from art_adapt.capture.rows import CAPTURED
from art_adapt.conversation_signs import text_of
from art_adapt.rehearsal.compared_texts import (
    differ_in_words,
    excerpt,
    first_difference,
    split,
    words_of,
)
from art_adapt.rehearsal.parts import EPISODE
from art_adapt.rehearsal.protocol import Repeat
from art_adapt.rehearsal.repeats import LATER, LATER_AGAIN, SAME, SAME_AGAIN
from art_adapt.rehearsal.replayed import Episode, episode_of
from art_adapt.rehearsal.replies import is_judgement
from art_adapt.rehearsal.seen import Finding, Seen, Witness, shortened
from art_adapt.secret_texts import without_secrets
from art_adapt.seen.conversations import TELLING, conversations_of
from art_adapt.seen.episodes import said_in, texts_in
from art_adapt.seen.notes import Request
from art_adapt.words import INSTRUCT

Json = dict[str, Any]

AS_SEEN = "given the replies of the watched run, an episode of its row sends the run's requests"
WATCH_AGAIN = (
    "if the agent or the row has changed since, watch it again with art-adapt capture"
)
STARTS = (
    "change episode() so that it starts the agent as that run did, and restore files that the run "
    f"has changed; {WATCH_AGAIN}"
)
WORKS = f"restore files and data that the run has changed; {WATCH_AGAIN}"
FAILS = f"correct the line that raised, or {WORKS}"
RETURNS = f"wrap what the run returned in final_answer(...), where the agent has it; {WATCH_AGAIN}"


@dataclass(frozen=True)
class Asked:
    """A request: its prompt, its other messages by role, and the names of its tools."""

    prompt: str
    said: tuple[tuple[str, str], ...]
    tools: frozenset[str]

    @property
    def roles(self) -> tuple[str, ...]:
        return tuple(role for role, _ in self.said)

    @property
    def parts(self) -> tuple[str, ...]:
        return (self.prompt, *(text for _, text in self.said))

    @cached_property
    def text(self) -> str:
        return "\n".join(self.parts)


def asked(body: Json) -> Asked:
    """Return what a request asks, of either API, as a watched run notes it: without secrets."""
    request = Request(0, None, None, body)
    messages = request.messages
    prompts = [text_of(each) for each in messages if each.get("role") in INSTRUCT]
    if isinstance(body.get("instructions"), str):
        prompts.insert(0, body["instructions"])
    said = (
        (str(each.get("role")), str(without_secrets(text_of(each))))
        for each in messages
        if each.get("role") not in INSTRUCT
    )
    prompt = str(without_secrets("\n".join(prompts)))
    return Asked(prompt, tuple(said), frozenset(request.offered))


# An episode that was replayed: its phases, how the first ended, and the run's own.
Replayed = tuple[tuple[str, str], Repeat, Episode]


@dataclass(frozen=True)
class Difference:
    """How a request differs from the run's; ``by_episode``: what episode() does makes the difference.

    A prompt, a task or tools of the first request are: no tool, service or chance comes before it.
    ``fix``: what to do about another difference.
    """

    text: str
    by_episode: bool = False
    fix: str = WORKS


def otherwise(seen: Seen) -> Iterator[Finding]:
    """Report an episode that starts otherwise than the run that its row comes from."""
    for pair, repeat, episode in _replayed(seen):
        for difference in _apart_from(episode, repeat, pair, seen):
            if not difference.by_episode:
                continue
            what = difference.text
            fix = f"{_remedy(difference, seen)}{seen.or_as_watched}"
            if episode.goes_on:
                what = (
                    "a row began with the reply of an earlier episode of the watched run, which a "
                    f"new agent does not have: {what}"
                )
                fix = "delete that row, or let --entry name what runs the whole conversation"
            yield seen.finding("otherwise", what, fix, EPISODE)
            return


def same_row(seen: Seen) -> Iterator[Finding]:
    """Report a row that stands for episodes of a run which were told different things.

    What differs was not the function's to say: every episode of the row is one of them. What is
    otherwise when the episode runs again is chance.
    """
    for (phase, again), repeat, episode in _replayed(seen):
        first, later = (_replies_asked(seen, each).get(1) for each in (phase, again))
        row = repeat.replayed if isinstance(repeat.replayed, dict) else {}
        captured = row.get(CAPTURED)
        other = isinstance(captured, dict) and captured.get("again")
        twin = episode_of({**row, CAPTURED: other}, seen.runs) if other else None
        if twin is None or first != later:
            continue
        one, two = (asked(each.asked[0].request) for each in (episode, twin))
        pairs = zip(one.parts, two.parts, strict=False)
        apart = [(was, now) for was, now in pairs if words_of(was) != words_of(now)]
        if one.roles == two.roles and apart:
            was, now = apart[0]
            at = first_difference(words_of(was), words_of(now))
            yield seen.finding(
                "same row",
                f"two episodes of the watched run have one row, and began otherwise: "
                f"{excerpt(split(was), at)} and {excerpt(split(now), at)}: no field holds what "
                "differs, so all episodes are one of them",
                "choose the function that is given what differs, with --entry, or make that an "
                "argument of this one; then watch a run again",
                EPISODE,
            )
            return


def ends_as_seen(seen: Seen) -> bool:
    """True if an episode with the replies of a run ended with the answer that the run returned."""
    return any(
        repeat.failure is None
        and (
            repeat.answer is None
            if episode.returns_nothing
            else repeat.answer is not None and repeat.answer == episode.returned
        )
        for _, repeat, episode in _replayed(seen)
    )


def _remedy(difference: Difference, seen: Seen) -> str:
    fix = STARTS if difference.by_episode else difference.fix
    if not seen.withheld:
        return fix
    names = ", ".join(seen.withheld)
    return f"{fix}; the agent was not given {names}, which --env NAME passes on"


def witnesses(seen: Seen) -> Iterator[Witness]:
    """Yield whether an episode of a run's row, with the run's replies, sends the run's requests.

    Where no row comes from a run, the tools and a prompt are looked for in all episodes.
    """
    replayed = _replayed(seen)
    differences = list(_differing(seen, replayed))
    if differences:
        first, more = differences[0], len(differences) - 1
        others = f" ({more} more difference{'s' * (more != 1)})" if more else ""
        fix = _remedy(first, seen)
        yield Witness(first.text, False, f"{first.text}{others}; {fix}")
    elif replayed:
        count = sum(len(episode.asked) for _, _, episode in replayed)
        statement = f"{AS_SEEN} ({count} request{'s' * (count != 1)})"
        yield Witness(statement, True, is_shown=True)
    elif seen.runs and not any(each.replayed for each in seen.notes.repeated):
        statement = f"no episode was compared with the watched run: {_uncompared(seen)}"
        yield Witness(statement, False)


def _uncompared(seen: Seen) -> str:
    """Say why no episode was replayed, though a run was watched."""
    if not seen.notes.repeated:
        return "no episode that could be compared has ended"
    if not seen.trained:
        return "all of them were lost"
    rows = [each for each in seen.notes.scenarios if isinstance(each, dict)]
    if any(row.get(CAPTURED) for row in rows):
        return "the notes of its rows are gone, or do not fit them, or hide a secret"
    return (
        f"no row has the key `{CAPTURED}`, which says what run it comes from; keep that key "
        "where you add others to a row"
    )


def _differing(seen: Seen, replayed: Sequence[Replayed]) -> Iterator[Difference]:
    """Yield the differences between episodes and runs, each once."""
    found = (
        difference
        for pair, repeat, episode in replayed
        for difference in _apart_from(episode, repeat, pair, seen)
    )
    lacking = (Difference(each, fix=STARTS) for each in _lacking(seen))
    yield from dict.fromkeys(found if replayed else lacking)


def _replayed(seen: Seen) -> list[Replayed]:
    return [
        (pair, repeat, episode)
        for pair in ((SAME, SAME_AGAIN), (LATER, LATER_AGAIN))
        if (repeat := seen.notes.repeat(pair[0])) is not None
        and (episode := episode_of(repeat.replayed, seen.runs)) is not None
        and not repeat.is_late
    ]


def _apart_from(
    episode: Episode, repeat: Repeat, phases: tuple[str, str], seen: Seen
) -> Iterator[Difference]:
    """Yield where an episode is otherwise than the one of a run that was replayed in it."""
    first, again = (_replies_asked(seen, phase) for phase in phases)
    was = {n: asked(each.request) for n, each in enumerate(episode.asked, 1)}
    count, later = (sum(e.phase == p for e in seen.repeats) for p in phases)
    if 1 in first:
        yield from _differences(was[1], first.pop(1), again.get(1), is_first=True)
    others = [
        difference
        for number, now in sorted(first.items())
        for difference in _differences(was[number], now, again.get(number))
    ]
    if repeat.failure is not None:
        yield Difference(
            "with the replies of the watched run, an episode of its row failed: "
            f"{repeat.failure}",
            fix=FAILS,
        )
    elif count != len(was):
        # Chance may decide how often, or what a tool said.
        yield Difference(
            f"the run asked {len(was)} times for its row, an episode of that row {count} times",
            not others and count == later,
        )
    yield from others
    answer, returned = repeat.answer, episode.returned
    if answer and returned and repeat.failure is None and count == len(was):
        cut = returned[: len(answer)]
        if sorted(words_of(cut)) != sorted(words_of(answer)):
            yield Difference(
                f"the run returned {shortened(repr(returned))}, and the final answer of an "
                f"episode of its row is {shortened(repr(answer))}",
                fix=RETURNS,
            )


def _replies_asked(seen: Seen, phase: str) -> dict[int, Asked]:
    """Return what was asked in a phase where a run's reply was given, by that reply's number."""
    return {
        each.replayed: asked(each.request)
        for each in seen.repeats
        if each.phase == phase and each.replayed
    }


def _differences(
    was: Asked, now: Asked, again: Asked | None, *, is_first: bool = False
) -> Iterator[Difference]:
    """Yield what is otherwise in an episode's request than in the run's.

    What is otherwise when the episode is run ``again`` comes of chance or of what it left behind.
    """
    for text in _tools(was.tools, now.tools):
        yield Difference(text, is_first)
    same = again if again is not None and again.roles == now.roles else now
    parts = [("prompt", was.prompt, now.prompt, same.prompt)]
    if was.roles == now.roles:
        each = zip(was.said, now.said, same.said, strict=True)
        parts += [(f"message of the {r}", b, t, o) for (r, b), (_, t), (_, o) in each]
    for part, before, text, other in parts:
        if text == other and (apart := _apart(part, before, text)):
            yield Difference(apart, is_first and differ_in_words(before, text))
    if was.roles != now.roles:
        yield Difference(
            f"the run that was seen asked with messages of {', '.join(was.roles)}, the "
            f"episode of its row with {', '.join(now.roles) or 'none'}",
            is_first,
        )


def _begun(seen: Seen) -> Iterator[Asked]:
    """Yield what began a conversation at the calls that episodes make.

    What repeats what the model said, as the text for a sub-agent, begins none. Nor does what a
    function asks again in one call of the agent, as after an error: the first reply led to it.
    """
    hooked = {(f"{place.path.resolve()}", name) for name, place in seen.agent.hooked}
    for run in seen.runs:
        first = {min(numbers) for numbers in conversations_of(run.requests)}
        said: list[str] = []
        asking: set[tuple[int, str]] = set()
        for request in run.requests:
            site = request.site
            outermost = min(
                (call.number for call in run.outward(request.around)), default=0
            )
            if (
                request.number in first
                and request.messages
                and site is not None
                and (f"{site.path}", site.function) in hooked
            ):
                opening, asker = asked(request.body), (outermost, site.function)
                is_again = bool(outermost) and asker in asking
                asking.add(asker)
                if not (is_again or any(each in opening.text for each in said)):
                    yield opening
            said += _parts_said(request)


def _parts_said(request: Request) -> Iterator[str]:
    """Yield what the model said: whole, by lines, and what a reply in JSON holds."""
    parts: list[str] = []
    for said in said_in(request.message):
        parts += [said, *said.splitlines()]
        with suppress(ValueError):
            parts += texts_in(json.loads(said), messages=True)
    yield from (each.strip() for each in parts if len(each.strip()) >= TELLING)


def _lacking(seen: Seen) -> Iterator[str]:
    """Yield the tools of runs, and that they have a prompt, where no episode has them."""
    episodes = [asked(e.request) for e in seen.log if not is_judgement(e.request)]
    begun = list(_begun(seen)) if episodes else []
    if not begun:
        return
    offered = frozenset[str]().union(*(each.tools for each in episodes))
    was = frozenset[str]().union(*(each.tools for each in begun))
    # A sub-agent's conversation begins with what the model said, and has tools of its own.
    ever = {n for run in seen.runs for request in run.requests for n in request.offered}
    yield from _tools(was, offered - (ever - was))
    if all(each.prompt for each in begun) and not any(e.prompt for e in episodes):
        yield (
            "the run that was seen began with the prompt "
            f"{excerpt(begun[0].prompt.split(), 0)}, episodes have none"
        )


def _tools(was: frozenset[str], now: frozenset[str]) -> Iterator[str]:
    if missing := sorted(was - now):
        yield f"the run that was seen offered {', '.join(missing)}, episodes do not"
    if was and (more := sorted(now - was)):
        yield f"episodes offer {', '.join(more)}, the run that was seen did not"


def _apart(part: str, was: str, now: str) -> str:
    """Say how a part of two requests differs, from the first word that does; "" if it does not."""
    before, after = words_of(was), words_of(now)
    if before == after:
        return ""
    at = first_difference(before, after)
    order = ", in another order" if sorted(before) == sorted(after) else ""
    return (
        f"the {part} was {excerpt(split(was), at)} in the run that was seen, and is "
        f"{excerpt(split(now), at)} in the episode of its row{order}"
    )
