"""Finds the modules of the project that a value may be: ``self.module = adb``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.classes import FunctionKey, method_of
from art_adapt.code.instances import owners
from art_adapt.code.nodes import decorator_names
from art_adapt.code.project import Project
from art_adapt.code.questions import ask
from art_adapt.code.resolution import held_in, resolve
from art_adapt.code.syntax import Syntax, return_values


def functions_in(
    project: Project, syntax: Syntax, node: ast.Attribute
) -> list[FunctionKey]:
    """Find the functions that an attribute of a module is: ``self.module.screen``."""
    return [
        (module.source.path, node.attr)
        for module in modules_of(project, syntax, node.value)
        if node.attr in module.functions
    ]


def modules_of(project: Project, syntax: Syntax, value: ast.expr) -> list[Syntax]:
    """Return the modules that a value may be.

    They follow from imports, assignments, what objects keep in attributes, and what functions
    and properties return.
    """
    return ask(project, _modules_of, syntax, value)


def _modules_of(project: Project, syntax: Syntax, value: ast.expr) -> Iterator[Syntax]:
    if isinstance(value, ast.IfExp | ast.BoolOp):
        parts = (
            value.values
            if isinstance(value, ast.BoolOp)
            else [value.body, value.orelse]
        )
        for part in parts:
            yield from modules_of(project, syntax, part)
    elif isinstance(value, ast.Name):
        imported = project.imported(syntax, value.id)
        if isinstance(imported, Syntax):
            yield imported
        for assigned in syntax.values_of(value):
            yield from modules_of(project, syntax, assigned)
    elif isinstance(value, ast.Attribute):
        for place, held in held_in(project, syntax, value):
            yield from modules_of(project, place, held)
        for key in _properties(project, syntax, value):
            yield from _returned(project, key)
    elif isinstance(value, ast.Call):
        for key in resolve(project, syntax, value.func):
            yield from _returned(project, key)


def _properties(
    project: Project, syntax: Syntax, node: ast.Attribute
) -> Iterator[FunctionKey]:
    """Yield the methods that are read as an attribute."""
    for place, owner in owners(project, syntax, node.value):
        for path, qualname in method_of(project, place, owner, node.attr):
            function = project.home(path).functions[qualname]
            if {"property", "cached_property"}.intersection(
                decorator_names(function.node)
            ):
                yield path, qualname


def _returned(project: Project, key: FunctionKey) -> Iterator[Syntax]:
    place = project.home(key[0])
    for returned in return_values(place, key[1]):
        yield from modules_of(project, place, returned)
