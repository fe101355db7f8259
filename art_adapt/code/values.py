"""Finds what a value may be, one step on: what is assigned, given, kept or returned for it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from art_adapt.code.classes import FunctionKey, method_of
from art_adapt.code.command_line import usual_text
from art_adapt.code.given import given_for
from art_adapt.code.instances import owners
from art_adapt.code.nodes import choices, decorator_names, dotted
from art_adapt.code.project import Project
from art_adapt.code.questions import question
from art_adapt.code.resolution import held_in, resolve
from art_adapt.code.syntax import PROPERTIES, Syntax, return_values

Placed = tuple[Syntax, ast.expr]  # with the file that it stands in


def steps(project: Project, syntax: Syntax, value: ast.expr) -> Iterator[Placed]:
    """Yield what a value may be, one step on; nothing where that is not known."""
    match value:
        case ast.Await(value=inner):
            yield syntax, inner
        case ast.IfExp() | ast.BoolOp():
            yield from ((syntax, each) for each in choices(value))
        case ast.Name(id=name):
            yield from ((syntax, each) for each in syntax.values_of(value))
            place, found = project.variable(syntax, name)
            yield from ((place, each) for each in found)
            yield from given_for(project, syntax, value)
        case ast.Attribute(value=holder, attr=name):
            yield from held_in(project, syntax, value)
            module = project.imported(syntax, dotted(holder) or "")
            if isinstance(module, Syntax):  # tools.TOOLS
                yield from ((module, each) for each in module.values_at_top(name))
            yield from _returned(project, properties(project, syntax, value))
        case ast.Call(func=called):
            yield from _returned(project, resolve(project, syntax, called))


def _returned(project: Project, keys: Iterable[FunctionKey]) -> Iterator[Placed]:
    for path, qualname in keys:
        place = project.home(path)
        yield from ((place, each) for each in return_values(place, qualname))


def properties(
    project: Project, syntax: Syntax, node: ast.Attribute
) -> Iterator[FunctionKey]:
    """Yield the methods that are read as an attribute."""
    for place, owner in owners(project, syntax, node.value):
        for path, qualname in method_of(project, place, owner, node.attr):
            function = project.home(path).functions[qualname]
            if not PROPERTIES.isdisjoint(decorator_names(function.node)):
                yield path, qualname


def usual_text_of(
    project: Project, place: Syntax, value: ast.expr | None, depth: int = 4
) -> str | None:
    """Return the text that a value is where nobody says otherwise, through objects as well.

    That is ``"small"`` for ``get_settings().guard_model`` of a class with that default.
    """
    if value is None or (text := usual_text(place, value)) is not None:
        return None if value is None else text
    found = {
        usual_text_of(project, home, each, depth - 1)
        for home, each in (steps(project, place, value) if depth else ())
    }
    return found.pop() if len(found) == 1 else None


def texts_side_by_side(
    project: Project, place: Syntax, value: ast.expr | None
) -> tuple[str, ...]:
    """Return the texts that a value is for objects that one function makes with different ones.

    Those are ``"small"`` and ``"large"`` of ``self.model``, for ``Game(Player("small"),
    Player("large"))``: both may be in use at once. What one call picks from a table is one text.
    """
    found: dict[FunctionKey, dict[str, None]] = {}
    for home, each in () if value is None else _arguments(project, place, value):
        text = usual_text_of(project, home, each)
        if text is not None:
            key = home.source.path, home.owner(each)
            found.setdefault(key, {})[text] = None
    return max(map(tuple, found.values()), key=len, default=())


@question
def _arguments(project: Project, place: Syntax, value: ast.expr) -> Iterator[Placed]:
    """Yield the arguments of calls that a value comes from, those furthest back."""
    for home, each in steps(project, place, value):
        further = list(_arguments(project, home, each))
        if not further and isinstance(home.parents[each], ast.Call | ast.keyword):
            further = [(home, each)]
        yield from further


def functions_in(
    project: Project, syntax: Syntax, node: ast.Attribute
) -> list[FunctionKey]:
    """Find the functions that an attribute of a module is: ``self.module.screen``."""
    return [
        (module.source.path, node.attr)
        for module in modules_of(project, syntax, node.value)
        if node.attr in module.functions
    ]


@question
def modules_of(project: Project, syntax: Syntax, value: ast.expr) -> Iterator[Syntax]:
    """Return the modules of the project that a value may be: ``self.module = adb``."""
    if isinstance(value, ast.Name):
        imported = project.imported(syntax, value.id)
        if isinstance(imported, Syntax):
            yield imported
    for place, each in steps(project, syntax, value):
        yield from modules_of(project, place, each)
