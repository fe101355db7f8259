"""Compare what episodes ask with what the agent asked in runs that were seen.

A prompt that is not handed on, tools that only a factory adds, a value that another field decides:
nothing in an episode tells that it lacks them. A run of the agent itself has them all.
"""

from __future__ import annotations

import calendar
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from art_adapt.capture.rows import CAPTURED
from art_adapt.conversation_signs import text_of
from art_adapt.rehearsal.replies import is_judgement
from art_adapt.rehearsal.seen import Seen, Witness
from art_adapt.secret_texts import secrets_in, without_secrets
from art_adapt.seen.conversations import TELLING, conversations_of
from art_adapt.seen.episodes import plain, said_in, texts_in
from art_adapt.seen.notes import Request, Run
from art_adapt.words import INSTRUCT

Json = dict[str, Any]

BEFORE, AFTER = 3, 9  # words that are shown of a difference
PUNCTUATION = ".,;:!?'\"()[]{}"
DAYS = {
    *calendar.day_name,
    *calendar.day_abbr,
    *calendar.month_name,
    *calendar.month_abbr,
}
REMEDY = "if the agent has not changed since, call it in episode() as the run did"


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


def asked(request: Request) -> Asked:
    """Return what a request asks, of either API, as a watched run notes it: without secrets."""
    body, messages = request.body, request.messages
    prompts = [text_of(m) for m in messages if m.get("role") in INSTRUCT]
    if isinstance(body.get("instructions"), str):
        prompts.insert(0, body["instructions"])
    said = [m for m in messages if m.get("role") not in INSTRUCT]
    return Asked(
        str(without_secrets("\n".join(prompts))),
        tuple(
            (str(each.get("role")), str(without_secrets(text_of(each))))
            for each in said
        ),
        frozenset(request.offered),
    )


def witnesses(seen: Seen) -> Iterator[Witness]:
    """Yield whether episodes begin as the agent began conversations in runs, on the same task.

    Where no episode has a run's task, its tools and a prompt are looked for in all of them.
    """
    episodes = list(
        dict.fromkeys(
            asked(Request(exchange.serial, None, None, exchange.request))
            for exchange in seen.log
            if not is_judgement(exchange.request)
        )
    )
    begun = list(_begun(seen)) if episodes else []
    compared: dict[Asked, Asked] = {}
    for opening, given in begun:
        task = _task(opening, given, seen)
        same = [e for e in episodes if task and all(text in e.text for text in task)]
        if same:
            episode = min(same, key=lambda each: _unlike(opening, each))
            if not (_is_shared(task, seen) and any(_differences(opening, episode))):
                compared[opening] = episode
    differences = dict.fromkeys(
        difference
        for opening, episode in compared.items()
        for difference in _differences(opening, episode)
    )
    if begun and not compared:
        openings = [each for each, _ in begun]
        differences = dict.fromkeys(_lacking(openings, episodes, seen))
    for difference in differences:
        yield Witness(difference, False, f"{difference}; {REMEDY}")
    if compared and not differences:
        yield Witness(
            f"episodes begin as in the run that was seen ({len(compared)} compared): the same "
            "prompt, messages and tools",
            True,
        )


def _begun(seen: Seen) -> Iterator[tuple[Asked, set[str]]]:
    """Yield what began a conversation at the calls that episodes make, and what was given there.

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
                opening, asker = asked(request), (outermost, site.function)
                is_again = bool(outermost) and asker in asking
                asking.add(asker)
                if not (is_again or any(each in opening.text for each in said)):
                    yield opening, _given(run, request)
            said += _parts_said(request)


def _parts_said(request: Request) -> Iterator[str]:
    """Yield what the model said: whole, by lines, and what a reply in JSON holds."""
    parts: list[str] = []
    for said in said_in(request.message):
        parts += [said, *said.splitlines()]
        with suppress(ValueError):
            parts += texts_in(json.loads(said), messages=True)
    yield from (each.strip() for each in parts if len(each.strip()) >= TELLING)


def _task(opening: Asked, given: set[str], seen: Seen) -> list[str]:
    """Return the texts of the scenario with which a run began, as far as it sent them.

    Of several, as of conversations that begin alike, it is the one of which it sent most.
    """
    sent = (
        [text for text in texts_in(scenario, messages=True) if text in opening.text]
        for scenario in seen.notes.scenarios
    )
    begun = [texts for texts in sent if texts and given.issuperset(texts)]
    return max(begun, key=lambda texts: sum(map(len, texts)), default=[])


def _is_shared(task: Sequence[str], seen: Seen) -> bool:
    """True if scenarios that differ otherwise have a task's texts: that may make the difference."""
    having = {
        json.dumps({**each, CAPTURED: None}, sort_keys=True)
        for each in seen.notes.scenarios
        if {*texts_in(each, messages=True)}.issuperset(task)
    }
    return len(having) > 1


def _given(run: Run, request: Request) -> set[str]:
    """Return the texts that the functions around a request were given, or somebody typed."""
    around = list(run.outward(request.around))
    owners = [owner for call in around if (owner := run.owner(call)) is not None]
    made = [each for owner in owners for each in (owner.init, *owner.calls)]
    values = [
        plain(run, note)
        for call in (*around, *filter(None, made))
        for note in call.given.values()
    ]
    words = [*run.typed, *run.command]
    return set(texts_in([values, words], messages=True))


def _unlike(opening: Asked, episode: Asked) -> tuple[int, bool]:
    """Rank a request of an episode by how far it is from a run's."""
    differences = len(list(_differences(opening, episode)))
    return differences, opening.roles != episode.roles


def _differences(opening: Asked, episode: Asked) -> Iterator[str]:
    """Yield what is otherwise in an episode's request than in a run's, on the same task."""
    yield from _tools(opening.tools, episode.tools)
    if not _alike(opening.prompt, episode.prompt):
        yield _apart("prompt", opening.prompt, episode.prompt)
    if opening.roles != episode.roles:
        yield (
            f"the run that was seen began with messages of {', '.join(opening.roles)}, the "
            f"episode of the same task with {', '.join(episode.roles) or 'none'}"
        )
        return
    for (role, was), (_, now) in zip(opening.said, episode.said, strict=True):
        if not _alike(was, now):
            yield _apart(f"message of the {role}", was, now)


def _lacking(
    begun: Sequence[Asked], episodes: Sequence[Asked], seen: Seen
) -> Iterator[str]:
    """Yield the tools of runs, and that they have a prompt, where no episode has them."""
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
    """Return the words of a text, with one mark for each time, number, id and path.

    These differ in any two runs.
    """
    words = [word.strip(PUNCTUATION) for word in text.split()]
    return ["#" if _differs_by_itself(word) else word for word in words]


def _differs_by_itself(word: str) -> bool:
    return word in DAYS or any(c.isdigit() or c in "/\\" for c in word)


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
        f"{_excerpt(now.split(), at)} in the episode of the same task"
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
