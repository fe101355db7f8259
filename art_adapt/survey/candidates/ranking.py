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
