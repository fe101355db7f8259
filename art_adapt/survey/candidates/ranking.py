"""Puts candidates before and behind each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from art_adapt.survey.candidates.entry_points import likeliest_first
from art_adapt.survey.candidates.found import Found
from art_adapt.survey.model import EntryPoint


def with_rivals(found: Found, rivals: Sequence[EntryPoint]) -> Found:
    """Put candidates right after the likeliest, and as likely: the user has to say."""
    first, *others = found.entry_points
    equal = [replace(each, score=first.score) for each in rivals]
    rest = [each for each in others if each not in rivals]
    return replace(found, entry_points=(first, *equal, *rest))


def put_behind(found: Found, entries: Sequence[EntryPoint], score: int) -> Found:
    """Give candidates this score, unless they have a lower one."""
    scored = [
        replace(each, score=min(each.score, score)) if each in entries else each
        for each in found.entry_points
    ]
    scored.sort(key=likeliest_first)
    return replace(found, entry_points=tuple(scored))


def used_first(found: Found) -> Found:
    """Put the implementation that the project calls before others of the same method.

    ``ManagerAgent.process`` that ``main()`` calls, before the workers that it hands tasks to.
    """
    entries = found.entry_points
    alike = [
        each
        for each in entries
        if each.implements is not None
        and (each.score, each.implements) == (entries[0].score, entries[0].implements)
    ]
    called = [each for each in alike if found.graph.callers(each.key)]
    if len(called) != 1:
        return found
    rest = (each for each in entries if each is not called[0])
    return replace(found, entry_points=(called[0], *rest))


def where_they_meet(found: Found) -> Found:
    """Put the function in front that several equally likely ones lead to, and ask the model in.

    A command and a service that call ``Pipeline.run`` are ways in: it runs the episode.
    """
    entries = found.entry_points
    ways = [each for each in entries if each.score == entries[0].score]
    if len(ways) < 2:
        return found
    run = [found.run_by([each]) for each in ways]
    asked = set().union(*run).intersection(found.policy)
    for each in entries[len(ways) :]:
        leads = all(each.key in one for one in run)
        if leads and "composes" in each.features and asked <= found.run_by([each]):
            rest = (other for other in entries if other is not each)
            first = replace(each, score=entries[0].score + 1)
            return replace(found, entry_points=(first, *rest))
    return found
