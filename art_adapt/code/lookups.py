"""Looks things up once: a value may lead back to itself, or to too many others."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeVar

from art_adapt.code.project import Project

V = TypeVar("V")
DEEPEST = 40  # values that a value is assigned from, one through the other


def once(
    project: Project,
    known: dict[ast.expr, list[V]],
    node: ast.expr,
    looking: Iterator[V],
) -> list[V]:
    """Find out about a node once, and no deeper than DEEPEST; meanwhile it is nothing.

    ``looking`` yields what there is, and may come back to the same node.
    """
    if node not in known:
        if project.looking >= DEEPEST:
            return []
        known[node] = []
        project.looking += 1
        try:
            found = dict.fromkeys(looking)
        finally:
            project.looking -= 1
        known[node] = list(found)
    return known[node]
