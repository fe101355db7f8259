"""Looks up across the files of a project: what makes a class, calls a function, derives from it.

Each is a fact of the project, on which answers rest: see ``session``.
"""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from art_adapt.code.nodes import called_name, decorator_names, dotted, last_name
from art_adapt.code.project import Project
from art_adapt.code.protocols import fits, is_protocol
from art_adapt.code.syntax import Syntax

ClassKey = tuple[Path, str]
Class = tuple[Syntax, str]


def constructed(
    project: Project, syntax: Syntax, class_name: str | None
) -> Sequence[tuple[Syntax, ast.Call]]:
    """Return the calls that make an instance of a class, with the files that they stand in."""
    return project.know(_constructed, (syntax.source.path, class_name or ""))


def calls_of_only(project: Project, name: str) -> Sequence[tuple[Syntax, ast.Call]]:
    """Return the calls by a name that one function of the project has; else none."""
    return project.know(_calls_of_only, name)


def decorated_with_only(project: Project, name: str) -> Sequence[tuple[Path, str]]:
    """Return the functions below a decorator with a name that only one function has."""
    return project.know(_decorated_with_only, name)


def classes_below(project: Project, decorator: str) -> Sequence[Class]:
    """Return the classes below a decorator with this name."""
    return project.know(_classes_below, decorator)


def derived_from(project: Project, syntax: Syntax, class_name: str) -> Sequence[Class]:
    """Return the classes derived from one, directly or not; what fits a Protocol, too."""
    return project.know(_derived, (syntax.source.path, class_name))


def protocols_of(project: Project, syntax: Syntax, class_name: str) -> list[Class]:
    """Return the Protocols that a class fits without naming them."""
    return [
        (place, name)
        for place, name in project.know(_protocols, None)
        if (syntax, class_name) in derived_from(project, place, name)
    ]


def _constructed(
    project: Project, key: ClassKey
) -> tuple[tuple[Syntax, ast.Call], ...]:
    return project.settled(
        lambda: tuple(
            (place, call)
            for name in (*_names_of(project, key), "cls")
            for place in project.files.values()
            for call in _calls(place).get(name, ())
            if _is_class(project, place, call.func, key)
        )
    )


def _names_of(project: Project, key: ClassKey) -> list[str]:
    """Return the names by which some file may know a class: imports rename.

    Only what has one of them is resolved, because resolving an import may read a file.
    """
    renamed = project.table(_renamed)
    names = [key[1].rpartition(".")[2]]
    for name in names:
        names += sorted(renamed.get(name, set()).difference(names))
    return names


def _renamed(project: Project) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for place in project.files.values():
        for local, imported in place.imports.items():
            if imported.attribute not in (None, local):
                found.setdefault(imported.attribute or "", set()).add(local)
    return found


def _is_class(project: Project, syntax: Syntax, value: ast.expr, key: ClassKey) -> bool:
    named = project.class_named(syntax, dotted(value) or "")
    function = syntax.functions.get(syntax.owner(value))
    if dotted(value) == "cls" and function is not None and function.class_name:
        named = syntax, function.class_name
    return named is not None and (named[0].source.path, named[1]) == key


def _calls_of_only(project: Project, name: str) -> tuple[tuple[Syntax, ast.Call], ...]:
    if project.table(_functions_named)[name] != 1:
        return ()
    return tuple(
        (place, call)
        for place in project.files.values()
        for call in _calls(place).get(name, ())
    )


def _decorated_with_only(project: Project, name: str) -> tuple[tuple[Path, str], ...]:
    if project.table(_functions_named)[name] != 1:
        return ()
    return tuple(
        (path, qualname)
        for path, place in project.files.items()
        for qualname in _decorated(place).get(name, ())
    )


def _classes_below(project: Project, decorator: str) -> tuple[Class, ...]:
    return tuple(
        (place, name)
        for place in project.files.values()
        for name, definition in place.classes.items()
        if decorator in decorator_names(definition)
    )


def _derived(project: Project, key: ClassKey) -> tuple[Class, ...]:
    found: dict[Class, None] = {}
    left = [key]
    while left:
        for place, name in _directly_derived(project, left.pop()):
            if (place, name) not in found:
                found[place, name] = None
                left.append((place.source.path, name))
    return tuple(found)


def _directly_derived(project: Project, key: ClassKey) -> tuple[Class, ...]:
    return project.settled(lambda: tuple(_deriving(project, key)))


def _deriving(project: Project, key: ClassKey) -> Iterator[Class]:
    names = _names_of(project, key)
    for place in project.files.values():
        for base in names:
            for name, value in _based_on(place).get(base, ()):
                if _is_class(project, place, value, key):
                    yield place, name
    for protocol, protocol_name in project.know(_protocols, None):
        if (protocol.source.path, protocol_name) == key:
            wanted = protocol.classes[protocol_name]
            for place in project.files.values():
                for name, definition in place.classes.items():
                    if not is_protocol(definition) and fits(definition, wanted):
                        yield place, name


def _functions_named(project: Project) -> Counter[str]:
    """Count the functions of each name."""
    return Counter(
        function.node.name
        for place in project.files.values()
        for function in place.functions.values()
    )


def _protocols(project: Project, _: None) -> tuple[Class, ...]:
    return tuple(
        (syntax, name)
        for syntax in project.files.values()
        for name, definition in syntax.classes.items()
        if is_protocol(definition)
    )


@functools.lru_cache(maxsize=512)
def _calls(syntax: Syntax) -> dict[str, list[ast.Call]]:
    """Return the calls of a file by the name that they call."""
    found: dict[str, list[ast.Call]] = {}
    for node in syntax.nodes:
        if isinstance(node, ast.Call):
            found.setdefault(called_name(node), []).append(node)
    return found


@functools.lru_cache(maxsize=512)
def _based_on(syntax: Syntax) -> dict[str, list[tuple[str, ast.expr]]]:
    """Return the classes of a file by the last names of their bases, with the bases."""
    found: dict[str, list[tuple[str, ast.expr]]] = {}
    for name, definition in syntax.classes.items():
        for base in definition.bases:
            found.setdefault(last_name(base), []).append((name, base))
    return found


@functools.lru_cache(maxsize=512)
def _decorated(syntax: Syntax) -> dict[str, list[str]]:
    """Return the functions of a file by the names of their decorators."""
    found: dict[str, list[str]] = {}
    for function in syntax.functions.values():
        for decorator in decorator_names(function.node):
            found.setdefault(decorator, []).append(function.qualname)
    return found
