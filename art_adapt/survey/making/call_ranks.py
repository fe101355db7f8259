"""Ranks the calls of a project that show how an object is made."""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence
from pathlib import Path

from art_adapt.code.nodes import decorator_names
from art_adapt.code.project import Project
from art_adapt.code.syntax import Syntax
from art_adapt.code.trials import is_demo, is_test, within_project

# The ranks of calls that only show or try an agent: a demo's, a test's.
DEMOS, TESTS = 3, 4
SHOWN = -1  # a run has shown that this call makes it
Site = tuple[Syntax, ast.Call]


def rank(project: Project, site: Site, agent: Syntax) -> int:
    """Order the calls that show how an object is made.

    First comes what a run has shown, then the files that the user named, then the agent's
    own, then others; what only shows or tries an agent comes last.
    """
    place, call = site
    if makes(project, place, place.owner(call)):
        return SHOWN
    if is_demo(Path(place.owner(call).rpartition(".")[2])):
        return DEMOS
    if place.source.path in project.given:
        return 0
    if place is agent:
        return 1
    return trial_rank(place.source.path, agent.source.path) or 2


def makes(project: Project, place: Syntax, function: str) -> bool:
    """True if a run has shown that a function makes the agent or a part of it."""
    makers = project.session.shown.makers
    return bool(makers) and (os.path.realpath(place.source.path), function) in makers


def trial_rank(path: Path, agent: Path) -> int:
    """Return the rank of a file that only shows or tries an agent; 0 for any other one."""
    named = within_project(path, agent)
    return TESTS if is_test(named) else DEMOS if is_demo(named) else 0


def ordered(
    project: Project, agent: Syntax, sites: Sequence[Site], worst: int = TESTS
) -> tuple[Site, ...]:
    """Return the calls that show how an object is made, in the order of their ranks.

    Tests only count where the application has no call: they try what it never does. Where a
    run has shown which call makes the agent, another one may make another agent.
    """
    ranks = [(rank(project, site, agent), site) for site in sites]
    if shown := tuple(site for each, site in ranks if each == SHOWN):
        return shown
    applied = any(each < DEMOS for each, _ in ranks)
    worst = min(worst, DEMOS) if applied else worst
    kept = [each for each in ranks if each[0] <= worst]
    return tuple(site for _, site in sorted(kept, key=lambda each: each[0]))


def best(
    project: Project, agent: Syntax, sites: Sequence[Site], below: int
) -> list[Site]:
    """Return the calls of the best rank, if that is better than ``below``."""
    ranks = [rank(project, site, agent) for site in sites]
    best = min(ranks, default=below)
    return [s for s, own in zip(sites, ranks, strict=True) if own == best < below]


def not_copying(sites: Sequence[Site], class_name: str) -> list[Site]:
    """Return the calls that make an object of a class, without those in its own methods.

    What an agent gives another one like itself, as in ``fork()``, it has changed by then.
    """

    def copies(place: Syntax, call: ast.Call) -> bool:
        function = place.functions.get(place.owner(call))
        return (
            function is not None
            and function.class_name == class_name
            and not {"classmethod", "staticmethod"}
            & set(decorator_names(function.node))
        )

    return [each for each in sites if not copies(*each)]


def not_handing_on(sites: Sequence[Site]) -> list[Site]:
    """Return the calls that say what they give, if some do, and not ``Agent(**kwargs)``.

    What such a function is called with says it, where it is called.
    """

    def hands_on(place: Syntax, call: ast.Call) -> bool:
        function = place.functions.get(place.owner(call))
        if function is None:
            return False
        own = function.node.args
        names = {each.arg for each in (own.vararg, own.kwarg) if each is not None}
        given = [each.value for each in call.args if isinstance(each, ast.Starred)]
        given += [each.value for each in call.keywords if each.arg is None]
        return any(isinstance(e, ast.Name) and e.id in names for e in given)

    return [each for each in sites if not hands_on(*each)] or list(sites)
