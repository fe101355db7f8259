"""Tells what callers take of a function's result: one element of a tuple, or an exit code."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.index import calls_of_only
from art_adapt.code.nodes import Function, dotted, last_name
from art_adapt.code.project import Project
from art_adapt.code.resolution import resolve
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.survey.candidates.showing import shows
from art_adapt.survey.side_effects.effects import EXITS
from art_adapt.survey.side_effects.library_calls import RUNNERS
from art_adapt.words import STRIPS


def is_exit_code(project: Project, syntax: Syntax, function: Function) -> bool:
    """True if every call makes the result the program's exit code: ``sys.exit(main())``."""
    results = list(_results(project, syntax, function))
    return bool(results) and all(
        isinstance(around, ast.Call)
        and value in around.args
        and dotted(around.func) in (*EXITS, "SystemExit")
        for place, value in results
        for around in [place.parents.get(value)]
    )


def shown_elements(
    project: Project, syntax: Syntax, function: Function, size: int
) -> set[int]:
    """Return which elements of the tuple of ``size`` that it returns its callers show somebody."""
    return {
        index
        for place, value in _results(project, syntax, function)
        for index in _shown(place, value, size)
    }


def _shown(place: Syntax, value: ast.expr, size: int) -> Iterator[int]:
    match place.parents.get(value):
        case ast.Subscript() as element if _is_shown(place, element):
            index = _constant(element.slice)
            if isinstance(index, int) and -size <= index < size:
                yield index % size
        case ast.Assign(targets=[ast.Tuple(elts)]) if len(elts) == size:
            owner = place.owner(value)
            for index, target in enumerate(elts):
                name = dotted(target)
                if name is not None and any(
                    dotted(node) == name
                    and isinstance(node.ctx, ast.Load)
                    and _is_shown(place, node)
                    for node in place.owned_by(owner)
                    if isinstance(node, ast.Name | ast.Attribute)
                ):
                    yield index


def _constant(value: ast.expr) -> object:
    """Return what a literal spells, -1 too; None: it is none."""
    try:
        spelled: object = ast.literal_eval(value)
    except ValueError:
        return None
    return spelled


def _is_shown(place: Syntax, value: ast.expr) -> bool:
    """True if a value is printed, or handed to something that shows it: whole, in a text, stripped."""
    inner: ast.AST = value
    for around in place.ancestors(value):
        match around:
            case ast.Call() if shows(place, around):
                return inner in (*around.args, *around.keywords)
            case ast.Call(func=ast.Attribute(attr=name)) if name in STRIPS:
                pass
            case ast.Attribute(attr=name) if name in STRIPS:
                pass
            case ast.JoinedStr() | ast.FormattedValue() | ast.BinOp() | ast.keyword():
                pass
            case ast.Subscript() if inner is around.value:  # result["answer"]
                pass
            case _:
                return False
        inner = around
    return False


def _results(
    project: Project, syntax: Syntax, function: Function
) -> Iterator[tuple[Syntax, ast.expr]]:
    """Yield the calls of a function that are sure to be its, with what awaits or runs each."""
    name, key = function.node.name, (syntax.source.path, function.qualname)
    calls = calls_of_only(project, name) or [
        (syntax, node)
        for owned in (MODULE_LEVEL, *syntax.functions)
        for node in syntax.owned_by(owned)
        if isinstance(node, ast.Call) and last_name(node.func) == name
    ]
    for place, call in calls:
        if key not in resolve(project, place, call.func):
            continue
        value: ast.expr = call
        around = place.parents.get(value)
        while isinstance(around, ast.Await) or (
            isinstance(around, ast.Call) and place.qualified(around.func) in RUNNERS
        ):
            value, around = around, place.parents.get(around)
        yield place, value
