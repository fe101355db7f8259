"""Choose which of the functions that may have run an episode did, with what reading says."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from art_adapt.code.syntax import MODULE_LEVEL
from art_adapt.conversation_signs import text_of
from art_adapt.entry_decision import near
from art_adapt.recipe.fields import scenario_fields
from art_adapt.seen.conversations import TELLING, conversations_of
from art_adapt.seen.episodes import (
    Enclosing,
    SeenFunction,
    around_of,
    plain,
    texts_in,
)
from art_adapt.seen.notes import FunctionKey, Run
from art_adapt.survey.calls.roles import side_job_of
from art_adapt.survey.model import EntryPoint, Survey


def chosen_by(survey: Survey, possible: Sequence[SeenFunction]) -> SeenFunction | None:
    """Return the outermost that was given a task, else the likeliest by reading.

    What hands its whole task on, as a handler that something decorates or a command that prints
    the answer, may be a way in: then the episode is a function behind it.
    """
    first = possible[0]
    entries = {key_of(entry): entry for entry in survey.entry_points}
    if not first.given:
        by_reading = [e for key in entries for e in possible if e.key == key]
        whole = [each for each in possible if _has_steps(each, by_reading)]
        return next(iter([*whole, *by_reading]), None)
    around = {c.key for e in first.calls for c in e.run.outward(e.call.around)}
    likeliest = next(iter(entries), None)
    outer = next((each for each in possible if each.key == likeliest), None)
    players = [e for e in possible if e.key in entries and entries[e.key].feeds_back]
    if outer is not None:
        players.insert(0, outer)
    for each in players:
        if _drives(each, first, survey):
            return _of_its_object(each, possible)
    if first.is_batch:  # which runs another one for each of some rows
        inside = [each for each in possible if first.key in around_of(each)]
        if outer is not None and outer in inside:
            return outer
        if given := [each for each in inside if each.given]:
            return min(given, key=lambda each: each.depth)
    way_in = entries.get(first.key)
    reads_rows = way_in is not None and way_in.goes_through_rows
    through = [e for e in possible if reads_rows and _is_run_for_rows(e, first)]
    if through:
        return min(through, key=lambda each: each.depth)
    if not first.told:  # it is given a conversation alone
        giving = [e for e in possible if e.key in around and e.key in entries]
        if outer is not None and outer in giving:
            return outer
        # A chat may have had one turn.
        if chats := [each for each in giving if entries[each.key].is_typed_to]:
            return chats[0]
    # Steps that stand side by side, as the opening and the turns of a game: reading tells. What a
    # person asked on the command line tells more, as of the demonstrations of a notebook.
    beside = [e for e in possible if _is_beside(e, first)]
    typed = [each for each in (first, *beside) if _is_told_typed(each)]
    if len(typed) == 1:
        first = typed[0]
    elif beside:
        either = (e for key in entries for e in (first, *beside) if e.key == key)
        first = next(either, first)
    served = way_in is not None and bool(way_in.route or way_in.decorated)
    if first.answers and not served:
        return first
    # A run does not tell apart what encloses the same requests; reading may. Where it cannot
    # either, the outermost has all turns: this run may have taken one, and others take more.
    likely = {key_of(entry) for entry in likely_by_reading(survey)}
    alike = [
        each
        for each in possible[served:]
        if each.told
        and (
            each.asked == first.asked
            or (each.key in likely and _has_all_turns(each, first))
        )
    ]
    alike = [e for e in alike if not _is_private_to(e, alike)]
    tied = [e for e in alike if e.key in likely and scenario_fields(entries[e.key])]
    if len(tied) > 1:
        return min(tied, key=lambda each: each.depth)
    read = (each for key in entries for each in tied or alike if each.key == key)
    return next(read, next((e for e in alike if e.answers), first))


def around_steps(
    runs: Sequence[Run],
    functions: Sequence[SeenFunction],
    possible: Sequence[SeenFunction],
    survey: Survey,
) -> SeenFunction | None:
    """Return the function around the steps that a command's one task went through.

    A framework may call them, so that reading finds steps that are equally likely. Who types
    several lines has a chat, whose turns stand side by side as well.
    """
    first, *others = possible
    steps = [first, *(each for each in others if _is_beside(each, first))]
    likely = likely_by_reading(survey)
    if (
        not first.given
        or len(steps) < 2
        or not {each.key for each in steps[:2]} <= {key_of(each) for each in likely}
        or any("drives" in each.features for each in likely)
        or any(len(run.typed) > 1 for run in runs)
    ):
        return None
    every = {tuple(request.number for request in run.requests) for run in runs}
    around = [e for e in functions if e.depth < first.depth and e.asked == every]
    return min(around, key=lambda each: each.depth, default=None)


def likely_by_reading(survey: Survey) -> list[EntryPoint]:
    """Return the likeliest entry point by reading, and those that are nearly as likely."""
    every = survey.entry_points
    return [every[0], *near(every[0], every[1:])] if every else []


def _drives(outer: SeenFunction, step: SeenFunction, survey: Survey) -> bool:
    """True if a loop of a function asked through another one, turn by turn.

    It may say what the model is asked as little as ``play("task1")`` does; each turn of a
    policy without a history is a conversation of its own. A chat's turns are a person's. What
    hands an answer on to a judge alone goes through tasks.
    """
    if outer.key == step.key or any(each.run.typed for each in outer.calls):
        return False
    is_judged = _is_only_judged(outer, step)
    driving = [
        key_of(each)
        for each in survey.entry_points
        if each.feeds_back
        or "drives" in each.features
        or ("composes" in each.features and not is_judged)
    ]
    turns = Counter(
        (id(each.run), call.number)
        for each in step.calls
        for call in each.run.outward(each.call.around)
        if call.key == outer.key
    )
    every = sum(turns.values()) == len(step.calls)
    return outer.key in driving and every and max(turns.values(), default=0) > 1


def _is_only_judged(outer: SeenFunction, step: SeenFunction) -> bool:
    """True if a function asked beside a step of it in judges alone."""
    inside = {(id(e.run), r.number) for e in step.calls for r in e.requests}
    beside = [
        request.site
        for each in outer.calls
        for request in each.requests
        if (id(each.run), request.number) not in inside
    ]
    return bool(beside) and all(
        site is not None and side_job_of(site.path, site.function) for site in beside
    )


def _of_its_object(
    stage: SeenFunction, possible: Sequence[SeenFunction]
) -> SeenFunction:
    """Return the method that runs a stage several times on its own object, and asks beside it.

    ``Game.run`` plays a day and a night, then the next ones: ``Game.day`` is no episode.
    """
    owner = stage.key[1].rpartition(".")[0]
    around = [
        each
        for each in possible
        if owner
        and each.key[0] == stage.key[0]
        and each.key[1].rpartition(".")[0] == owner
        and _requests_of(stage) < _requests_of(each)
        and len(stage.calls) > len(each.calls)
    ]
    return min(around, key=lambda each: each.depth, default=stage)


def _is_run_for_rows(one: SeenFunction, batch: SeenFunction) -> bool:
    """True if a batch asked only in calls of a function that were each told what it was not given.

    It reads its rows itself: the files of a folder, the lines of a table.
    """

    def is_run_in(outer: Enclosing) -> bool:
        known = {*_texts_given(outer)}
        inner = [
            each for each in one.calls if each.run is outer.run and _is_in(each, outer)
        ]
        asked = {request.number for each in inner for request in each.requests}
        return asked == {request.number for request in outer.requests} and all(
            each.whole
            and each.told
            and not (each.is_part or known.issuperset(_texts_given(each)))
            for each in inner
        )

    several = len(one.calls) > len(batch.calls)
    return several and one.key != batch.key and all(map(is_run_in, batch.calls))


def _is_in(inner: Enclosing, outer: Enclosing) -> bool:
    around = inner.run.outward(inner.call.around)
    return any(call.number == outer.call.number for call in around)


def _texts_given(each: Enclosing) -> Iterator[str]:
    for note in each.call.given.values():
        yield from texts_in(plain(each.run, note), messages=True)


def _is_private_to(step: SeenFunction, others: Sequence[SeenFunction]) -> bool:
    """True if a method that its class calls its own is run by another method of it alone."""
    owner, _, name = step.key[1].rpartition(".")
    return name.startswith("_") and any(
        other.key[0] == step.key[0]
        and other.key[1].rpartition(".")[0] == owner != ""
        and all(
            any(call.key == other.key for call in e.run.outward(e.call.around))
            for e in step.calls
        )
        for other in others
        if other is not step
    )


def _has_steps(outer: SeenFunction, read: Sequence[SeenFunction]) -> bool:
    """True if a function asks through several that reading takes, one after the other.

    ``Game.play`` asks in ``choose_word`` and ``choose_letter``. What asks through one alone may
    go through the rows of an evaluation.
    """
    every = _requests_of(outer)
    inner = [each for each in read if _requests_of(each) < every]
    again = any(len(each.calls) > len(outer.calls) for each in inner)
    return again and any(
        _requests_of(one).isdisjoint(_requests_of(other))
        for one, other in combinations(inner, 2)
    )


def _requests_of(function: SeenFunction) -> set[tuple[int, int]]:
    """Return the requests of a function's calls, each with the identity of its run."""
    return {(id(e.run), r.number) for e in function.calls for r in e.requests}


def _has_all_turns(inner: SeenFunction, outer: SeenFunction) -> bool:
    """True if one call of a function answers each call of ``outer``, which asks beside it only once.

    A command may have the session summed up after its agent has answered. One that goes through
    the lines of a file has it answer each.
    """

    def is_answered(whole: Enclosing) -> bool:
        every = {request.number: request for request in whole.requests}
        held = [
            {request.number for request in each.requests} & every.keys()
            for each in inner.calls
            if each.run is whole.run
        ]
        held = [numbers for numbers in held if numbers]
        inside = set().union(*held)
        beside = [c for c in conversations_of(whole.requests) if c.isdisjoint(inside)]
        single = all(
            len(c) == 1 and not every[number].offered for c in beside for number in c
        )
        several = len(held) > 1 and inner.runs_episodes
        takes_turns = any(len(numbers) > 1 for numbers in held)
        return (len(held) == 1 or several) and takes_turns and single

    return inner.answers and all(map(is_answered, outer.calls))


def _is_beside(other: SeenFunction, first: SeenFunction) -> bool:
    """True if a function was given a task as well, for requests of its own."""
    alike = (other.depth, bool(other.given)) == (first.depth, bool(first.given))
    numbers = {number for asked in other.asked for number in asked}
    return alike and numbers.isdisjoint(n for asked in first.asked for n in asked)


def _is_told_typed(function: SeenFunction) -> bool:
    """True if the model was asked in a function what a person had typed."""
    return any(
        len(word) >= TELLING and word in text_of(message)
        for each in function.calls
        for word in (*each.run.command[1:], *each.run.typed)
        for request in each.requests
        for message in request.messages
    )


def with_entry(
    survey: Survey, key: FunctionKey, described: Callable[[EntryPoint], EntryPoint]
) -> Survey:
    """Return a survey whose entry point of that function is ``described`` anew."""
    entries = (described(e) if key_of(e) == key else e for e in survey.entry_points)
    return replace(survey, entry_points=tuple(entries))


def key_of(entry: EntryPoint) -> FunctionKey:
    """Return the function of an entry point as runs note it."""
    return Path(os.path.realpath(entry.key[0])), entry.key[1]


def ran_all_of(function: SeenFunction) -> FunctionKey | None:
    """Return the outermost function one call of which made all of a run's calls of a function.

    None where a function was called once in a run, or its calls have no other one around.
    """
    found: set[FunctionKey | None] = set()
    for run in {id(each.run): each.run for each in function.calls}.values():
        own = [each.call for each in function.calls if each.run is run]
        shared = set.intersection(
            *({c.number for c in run.outward(c.around)} for c in own)
        )
        around = [run.calls[number] for number in sorted(shared)]
        named = [c for c in around if c.function != MODULE_LEVEL and c.given]
        found.add(named[0].key if len(own) > 1 and named else None)
    return found.pop() if len(found) == 1 else None


def ran_in(
    function: SeenFunction, others: Sequence[SeenFunction]
) -> tuple[FunctionKey, int] | None:
    """Return the outermost function that a call of another ran several times, and how often.

    Each time it was told something, asked in several turns and returned what the model said.
    """
    found = []
    for other in others:
        turns = all(len(each.requests) > 1 and each.told for each in other.calls)
        inside = [
            sum(each.run is outer.run and _is_in(each, outer) for each in other.calls)
            for outer in function.calls
        ]
        if other.key != function.key and turns and other.answers and max(inside) > 1:
            found.append((other.depth, other.key, max(inside)))
    return min(found)[1:] if found else None
