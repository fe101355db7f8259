"""Puts candidates before and behind each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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
    scored.sort(key=lambda each: -each.score)
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
