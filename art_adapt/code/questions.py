"""Asks a question about a node once, also where its answer leads back to the question.

Two functions that return each other's result, a list that is extended by itself: what a
node may be then depends on what it may be. Such questions are asked in rounds, each with
what the last one found, until nothing is added. So no answer depends on who asked first.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from art_adapt.code.syntax import Syntax

if TYPE_CHECKING:
    from art_adapt.code.project import Project
    from art_adapt.code.session import Facts

V = TypeVar("V", bound=Hashable)
N = TypeVar("N", bound=ast.AST)
DEEPEST = 40  # questions that one leads to, each by the one before
NONE_OPEN = 1 << 30


@dataclass
class Open:
    """A question that is being answered, with what earlier rounds found."""

    depth: int
    found: list[Any]
    asked_again: bool = False


@dataclass(frozen=True)
class Tentative:
    """An answer that rests on one of a question which is still open."""

    found: list[Any]
    facts: Facts
    outermost: int  # the depth of that question


@dataclass
class Search:
    """The questions of one project that are open, and what they rest on so far."""

    facts: Facts = 0
    outermost: int = NONE_OPEN  # the depth of an open question that was asked again
    outdated: bool = False  # an open question found more than it had answered
    open: dict[Hashable, Open] = field(default_factory=dict)
    tentative: dict[Hashable, Tentative] = field(default_factory=dict)
    earlier: dict[Hashable, list[Any]] = field(default_factory=dict)  # rounds


def question(
    looks: Callable[[Project, Syntax, N], Iterator[V]],
) -> Callable[[Project, Syntax, N], list[V]]:
    """Ask what a generator yields about a node, as ``ask`` does."""

    @functools.wraps(looks)
    def asked(project: Project, syntax: Syntax, node: N) -> list[V]:
        return ask(project, looks, syntax, node)

    return asked


def ask(
    project: Project,
    question: Callable[[Project, Syntax, Any], Iterator[V]],
    syntax: Syntax,
    node: ast.AST,
) -> list[V]:
    """Return what ``question`` yields about a node, each once.

    Beyond DEEPEST it yields nothing, and what rests on that is not kept.
    """
    search, key = project.search, (question, node)
    for answer in project.session.answers(key):
        if project.holds(answer.facts):
            search.facts |= answer.facts
            return answer.found
    if (asked := search.open.get(key)) is not None:
        asked.asked_again = True
        search.outermost = min(search.outermost, asked.depth)
        return asked.found
    if (known := search.tentative.get(key)) is not None:
        search.facts |= known.facts
        search.outermost = min(search.outermost, known.outermost)
        return known.found
    if len(search.open) >= DEEPEST:
        search.outermost = -1
        return []
    around = search.facts, search.outermost, search.outdated
    opened = search.open[key] = Open(len(search.open), search.earlier.get(key, []))
    try:
        found = _in_rounds(project, question, syntax, node, opened)
    finally:
        del search.open[key]
        if not search.open:
            project.session.notice(project.session.files)
            search.tentative.clear()
            search.earlier.clear()
        search.facts |= around[0]
        search.outermost = min(search.outermost, around[1])
        search.outdated |= around[2]
    return found


def _in_rounds(
    project: Project,
    question: Callable[[Project, Syntax, Any], Iterator[V]],
    syntax: Syntax,
    node: ast.AST,
    opened: Open,
) -> list[V]:
    search, key = project.search, (question, node)
    inner = len(search.tentative)  # those behind are of this question
    while True:
        search.facts, search.outermost, search.outdated = 0, NONE_OPEN, False
        found = list(dict.fromkeys((*opened.found, *question(project, syntax, node))))
        search.outdated |= opened.asked_again and len(found) > len(opened.found)
        if search.outermost < opened.depth:  # a question further out has to settle it
            search.tentative[key] = Tentative(found, search.facts, search.outermost)
            return found
        settled = list(search.tentative.items())[inner:]
        for each, _ in settled:
            del search.tentative[each]
        if not search.outdated:
            break
        search.earlier.update((each, answer.found) for each, answer in settled)
        opened.found = found
    for each, answer in settled:
        project.session.keep(each, answer.found, search.facts)
    project.session.keep(key, found, search.facts)
    search.outermost = NONE_OPEN
    return found
