"""Tells whether a list or dict holds what JSON cannot: functions, or instances of classes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.instances import classes_of
from art_adapt.code.project import Project
from art_adapt.code.resolution import referred
from art_adapt.code.syntax import Syntax

DEEPEST = 3  # names for a list, one through the other


def holds_objects(project: Project, place: Syntax, value: ast.expr) -> bool:
    """True if one of the lists or dicts that a value may be holds a function or an object."""
    return any(
        isinstance(each, ast.Lambda)
        or bool(referred(project, place, each))
        or bool(classes_of(project, place, each))
        for each in _elements(place, value)
    )


def _elements(place: Syntax, value: ast.expr, depth: int = 0) -> Iterator[ast.expr]:
    match value:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Dict(values=parts):
            for part in parts:
                if isinstance(part, ast.Starred):
                    yield from _elements(place, part.value, depth)
                else:
                    yield part
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
            yield from _elements(place, one, depth)
            yield from _elements(place, other, depth)
        case ast.BoolOp(values=parts):
            for part in parts:
                yield from _elements(place, part, depth)
        case ast.Name() | ast.Attribute() if depth < DEEPEST:
            for each in place.values_of(value):
                yield from _elements(place, each, depth + 1)
