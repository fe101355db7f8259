"""Tells whether a function returns an object that it keeps: of its module, a cache, a container."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import Function, decorator_names
from art_adapt.code.project import Project
from art_adapt.code.questions import question
from art_adapt.code.resolution import resolve
from art_adapt.code.syntax import Syntax, return_values
from art_adapt.code.values import steps
from art_adapt.survey.side_effects.entries import outermost
from art_adapt.words import CACHES


def returns_kept(project: Project, place: Syntax, function: Function) -> bool:
    """True if calls of a function may return one object: episodes would share it."""
    returned = return_values(place, function.qualname)
    return any(_outlives(project, place, value) for value in returned)


@question
def _outlives(project: Project, syntax: Syntax, value: ast.expr) -> Iterator[bool]:
    """Yield True if a value may be there before the call that gives it, and after."""
    match value:
        case ast.Name(id=name):
            if not syntax.is_local(name, syntax.owner(value)):
                yield True
        case ast.Attribute(value=holder) | ast.Subscript(value=holder):
            if _is_class(holder):
                yield True
            yield from _outlives(project, syntax, holder)
        case ast.Call(func=called):
            for path, qualname in resolve(project, syntax, called):
                place = project.home(path)
                decorators = decorator_names(place.functions[qualname].node)
                if not CACHES.isdisjoint(decorators):
                    yield True
                if isinstance(called, ast.Attribute) and _gives_own(place, qualname):
                    yield from _outlives(project, syntax, called.value)
    for place, each in steps(project, syntax, value):
        yield from _outlives(project, place, each)


def _is_class(holder: ast.expr) -> bool:
    return isinstance(holder, ast.Name) and holder.id == "cls"


def _gives_own(place: Syntax, method: str) -> bool:
    """True if a method returns what its object holds: ``return self._service``."""
    roots = map(outermost, return_values(place, method))
    return any((root or "").startswith("self.") for root in roots)
