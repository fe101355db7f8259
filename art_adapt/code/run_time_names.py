"""Resolves functions that are named at run time: ``getattr(self, "tool_" + name)``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from art_adapt.code.classes import FunctionKey, lineage
from art_adapt.code.index import derived_from
from art_adapt.code.instances import owners
from art_adapt.code.nodes import dotted
from art_adapt.code.project import Project
from art_adapt.code.syntax import MODULE_LEVEL, Syntax

ANYTHING = ".+"
OWN_NAMES = ("globals", "locals", "vars")


def named_at_run_time(
    project: Project, syntax: Syntax, value: ast.expr
) -> Iterator[FunctionKey]:
    """Find the functions that an expression looks up by a name which the program makes.

    The looked-up name has to match as much of it as can be read. Private functions count
    only where that part names them.
    """
    match value:
        case ast.Call(func=ast.Name(id="getattr"), args=[holder, name, *_]):
            yield from _members(project, syntax, holder, _pattern(syntax, name))
        case ast.Call(args=[holder, *_]) if is_inspection(syntax, value):
            yield from _members(project, syntax, holder, ANYTHING)
        case ast.Subscript(value=ast.Call(func=ast.Name(id=made), args=[]), slice=name):
            if made in OWN_NAMES:
                yield from _of_module(syntax, _pattern(syntax, name), own=True)
        case ast.Call(
            func=ast.Attribute(value=ast.Call(func=ast.Name(id=made), args=[])),
            args=[name, *_],
        ):
            if made in OWN_NAMES:
                yield from _of_module(syntax, _pattern(syntax, name), own=True)


def is_inspection(syntax: Syntax, value: ast.expr) -> bool:
    """True if a value lists the members of a module or an object: ``inspect.getmembers(tools)``."""
    return isinstance(value, ast.Call) and (
        syntax.qualified(value.func) == "inspect.getmembers"
    )


def _members(
    project: Project, syntax: Syntax, holder: ast.expr, pattern: str
) -> Iterator[FunctionKey]:
    if isinstance(holder, ast.Subscript):
        if syntax.qualified(holder.value) == "sys.modules":
            yield from _of_module(syntax, pattern, own=True)
        return
    module = project.imported(syntax, dotted(holder) or "")
    if isinstance(module, Syntax):
        yield from _of_module(module, pattern)
        return
    named = project.class_named(syntax, dotted(holder) or "")
    classes = [named] if named else owners(project, syntax, holder)
    family = [
        each
        for place, owner in classes
        for each in (
            *lineage(project, place, owner),
            *derived_from(project, place, owner),
        )
    ]
    for place, owner in dict.fromkeys(family):
        for name, method in place.methods_of(owner):
            if _fits(name, pattern):
                yield place.source.path, method.qualname


def _of_module(
    syntax: Syntax, pattern: str, *, own: bool = False
) -> Iterator[FunctionKey]:
    """Yield a module's functions of a name; ``own``: as the module itself looks them up.

    Where any name will do, what it starts itself is then no such function.
    """
    started = _started(syntax) if own and pattern == ANYTHING else set()
    for name in syntax.functions:
        if "." not in name and name not in started and _fits(name, pattern):
            yield syntax.source.path, name


def _started(syntax: Syntax) -> set[str | None]:
    """Return what a module calls when it is run: ``main`` below the guard."""
    return {
        dotted(node.func)
        for node in syntax.owned_by(MODULE_LEVEL)
        if isinstance(node, ast.Call)
    }


def _fits(name: str, pattern: str) -> bool:
    hidden = name.startswith("_") if pattern == ANYTHING else name.startswith("__")
    return not hidden and re.fullmatch(pattern, name) is not None


def _pattern(syntax: Syntax, name: ast.expr) -> str:
    """Return a regular expression for what a name may be: ``tool_.+``."""
    match name:
        case ast.Constant(value=str(text)):
            return re.escape(text)
        case ast.JoinedStr(values=parts):
            return "".join(_pattern(syntax, part) for part in parts)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return _pattern(syntax, left) + _pattern(syntax, right)
        case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str(text))):
            return _formatted(text, r"%\w")
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)))):
            return _formatted(text, r"\{\w*\}")
        case ast.Name():
            values = syntax.values_of(name)
            if len(values) == 1 and not isinstance(values[0], ast.Name):
                return _pattern(syntax, values[0])
    return ANYTHING


def _formatted(text: str, place: str) -> str:
    return ANYTHING.join(map(re.escape, re.split(place, text)))
