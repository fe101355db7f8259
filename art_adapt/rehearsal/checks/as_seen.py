"""Compare what episodes ask with what the agent asked in runs that were seen.

A prompt that is not handed on, tools that only a factory adds, a field that keeps its default, an
object that another one fills: nothing in an episode tells that it lacks them. The run has them.
"""

from __future__ import annotations

import calendar
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from art_adapt.conversation_signs import text_of
from art_adapt.rehearsal.protocol import Repeat
from art_adapt.rehearsal.repeats import LATER, LATER_AGAIN, SAME, SAME_AGAIN
from art_adapt.rehearsal.replayed import Episode, episode_of
from art_adapt.rehearsal.replies import is_judgement
from art_adapt.rehearsal.seen import Seen, Witness, shortened
from art_adapt.secret_texts import secrets_in, without_secrets
from art_adapt.seen.conversations import TELLING, conversations_of
from art_adapt.seen.episodes import said_in, texts_in
from art_adapt.seen.notes import Request
from art_adapt.words import INSTRUCT

Json = dict[str, Any]

BEFORE, AFTER = 3, 9  # words that are shown of a difference
MOST = 3  # differences
PUNCTUATION = ".,;:!?'\"()[]{}"
DAYS = {
    *calendar.day_name,
    *calendar.day_abbr,
    *calendar.month_name,
    *calendar.month_abbr,
}
LONGEST_NUMBER = 8  # digits: a longer one is an id or a time
REMEDY = "if neither the agent nor the row has changed since, call it in episode() as the run did"


@dataclass(frozen=True)
class Asked:
    """A request: its prompt, its other messages by role, and the names of its tools."""

    prompt: str
    said: tuple[tuple[str, str], ...]
    tools: frozenset[str]

    @property
    def roles(self) -> tuple[str, ...]:
        return tuple(role for role, _ in self.said)

    @cached_property
    def text(self) -> str:
        return "\n".join((self.prompt, *(text for _, text in self.said)))


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


def witnesses(seen: Seen) -> Iterator[Witness]:
    """Yield whether an episode of a run's row, told what the model said there, asks what the run asked.

    Where no row comes from a run, the tools and a prompt are looked for in all episodes.
    """
    replayed = {
        pair: (repeat, episode)
        for pair in ((SAME, SAME_AGAIN), (LATER, LATER_AGAIN))
        if (repeat := seen.notes.repeat(pair[0])) is not None
        and (episode := episode_of(repeat.replayed, seen.runs)) is not None
    }
    differences = [
        difference
        for pair, (repeat, episode) in replayed.items()
        for difference in _apart_from(episode, repeat, pair, seen)
    ]
    if not replayed:
        differences = [*_lacking(seen)]
    for difference in [*dict.fromkeys(differences)][:MOST]:
        yield Witness(difference, False, f"{difference}; {REMEDY}")
    if replayed and not differences:
        count = sum(len(episode.asked) for _, episode in replayed.values())
        yield Witness(
            "an episode of a run's row, told what the model said there, asks what the run asked "
            f"({count} request{'s' * (count != 1)})",
            True,
        )


def _apart_from(
    episode: Episode, repeat: Repeat, phases: tuple[str, str], seen: Seen
) -> Iterator[str]:
    """Yield where an episode is otherwise than the one of a run that was replayed in it."""
    first, again = (_replies_asked(seen, phase) for phase in phases)
    was = {n: asked(each.request) for n, each in enumerate(episode.asked, 1)}
    for number, now in sorted(first.items()):
        yield from _differences(was[number], now, again.get(number))
    count = sum(e.phase == repeat.phase for e in seen.repeats)
    if repeat.failure is not None:
        yield (
            "an episode of a run's row, told what the model said there, failed: "
            f"{repeat.failure}"
        )
    elif count != len(was) and not repeat.is_late:
        yield (
            f"the run asked {len(was)} times for its row, an episode of that row {count} times"
        )
    elif (
        (answer := repeat.answer)
        and episode.returned
        and not _alike(episode.returned[: len(answer)], answer)
    ):
        yield (
            f"the run returned {shortened(repr(episode.returned))}, and the final answer of an "
            f"episode of its row is {shortened(repr(answer))}"
        )


def _replies_asked(seen: Seen, phase: str) -> dict[int, Asked]:
    """Return what was asked in a phase where a run's reply was given, by that reply's number."""
    return {
        each.replayed: asked(each.request)
        for each in seen.repeats
        if each.phase == phase and each.replayed
    }


def _differences(was: Asked, now: Asked, again: Asked | None) -> Iterator[str]:
    """Yield what is otherwise in an episode's request than in the run's.

    What is otherwise when the episode is run ``again`` comes of chance or of what it left behind.
    """
    yield from _tools(was.tools, now.tools)
    same = again if again is not None and again.roles == now.roles else now
    if now.prompt == same.prompt and not _alike(was.prompt, now.prompt):
        yield _apart("prompt", was.prompt, now.prompt)
    if was.roles != now.roles:
        yield (
            f"the run that was seen asked with messages of {', '.join(was.roles)}, the "
            f"episode of its row with {', '.join(now.roles) or 'none'}"
        )
        return
    each = zip(was.said, now.said, same.said, strict=True)
    for (role, before), (_, text), (_, other) in each:
        if text == other and not _alike(before, text):
            yield _apart(f"message of the {role}", before, text)


def _begun(seen: Seen) -> Iterator[Asked]:
    """Yield what began a conversation at the calls that episodes make.

    What repeats what the model said, as the text for a sub-agent, begins none. Nor does what a
    function asks again in one call of the agent, as after an error: the first reply led to it.
    """
    hooked = {(f"{place.path.resolve()}", name) for name, place in seen.hooked}
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
            f"{_excerpt(begun[0].prompt.split(), 0)}, episodes have none"
        )


def _tools(was: frozenset[str], now: frozenset[str]) -> Iterator[str]:
    if missing := sorted(was - now):
        yield f"the run that was seen offered {', '.join(missing)}, episodes do not"
    if was and (more := sorted(now - was)):
        yield f"episodes offer {', '.join(more)}, the run that was seen did not"


def _words(text: str) -> list[str]:
    """Return the words of a text, with one mark for each time, date, id and path.

    These differ in any two runs; other numbers do not.
    """
    words = [word.strip(PUNCTUATION) for word in text.split()]
    of_a_date = {
        n + d for n, word in enumerate(words) if word in DAYS for d in (-1, 0, 1, 2)
    }
    return [
        "#" if at in of_a_date or _differs_by_itself(word) else word
        for at, word in enumerate(words)
    ]


def _differs_by_itself(word: str) -> bool:
    if not any(c.isdigit() or c in "/\\" for c in word):
        return False
    number = word.strip("$%+-").replace(",", "").replace(".", "", 1)
    return not number.isdecimal() or len(number) > LONGEST_NUMBER


def _alike(was: str, now: str) -> bool:
    """True if texts have the same words; a set may have been written in any order."""
    return sorted(_words(was)) == sorted(_words(now))


def _apart(part: str, was: str, now: str) -> str:
    """Say how a part of two requests differs, from the first word that does."""
    before, after = _words(was), _words(now)
    pairs = zip(before, after, strict=False)
    shorter = min(len(before), len(after))
    at = next((n for n, (left, right) in enumerate(pairs) if left != right), shorter)
    return (
        f"the {part} was {_excerpt(was.split(), at)} in the run that was seen, and is "
        f"{_excerpt(now.split(), at)} in the episode of its row"
    )


def _excerpt(words: Sequence[str], at: int) -> str:
    begin = max(0, at - BEFORE)
    text = " ".join(words[begin : at + AFTER])
    if not words:
        return "empty"
    if any(secrets_in(text)):
        return "(looks like a secret)"
    before = "..." if begin else ""
    return f"'{before}{text}{'...' if len(words) > at + AFTER else ''}'"
