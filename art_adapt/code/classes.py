"""Finds what a class of the project inherits, and the classes that an annotation names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from art_adapt.code.annotations import alternatives
from art_adapt.code.index import derived_from
from art_adapt.code.nodes import dotted, last_name
from art_adapt.code.project import Project
from art_adapt.code.syntax import Syntax

FunctionKey = tuple[Path, str]
ALIASES = 3  # names for an annotation, one through the other


def lineage(
    project: Project, syntax: Syntax, class_name: str, depth: int = 0
) -> list[tuple[Syntax, str]]:
    """Return the class and the classes of the project that it is derived from."""
    definition = syntax.classes.get(class_name)
    if definition is None or depth > 5:
        return []
    found = [(syntax, class_name)]
    for base in definition.bases:
        place = project.class_named(syntax, dotted(base) or "")
        if place is not None:
            found += lineage(project, *place, depth + 1)
    return found


def with_overrides(
    project: Project, syntax: Syntax, class_name: str, attribute: str
) -> list[FunctionKey]:
    """Find a method, and its overrides in the classes derived from ``class_name``."""
    found = dict.fromkeys(method_of(project, syntax, class_name, attribute))
    for place, derived in derived_from(project, syntax, class_name):
        if f"{derived}.{attribute}" in place.functions:
            found[place.source.path, f"{derived}.{attribute}"] = None
    return list(found)


def stand_ins_of(project: Project, key: FunctionKey) -> list[FunctionKey]:
    """Return the methods of other classes that may run in the place of one: those of its family.

    That is of a class, of those that it is derived from, and of those derived from them.
    """
    path, name = key
    owner, _, method = name.rpartition(".")
    syntax = project.files.get(path)
    if syntax is None or owner not in syntax.classes:
        return []
    family = [
        (place.source.path, f"{each}.{method}")
        for base in lineage(project, syntax, owner)
        for place, each in (base, *derived_from(project, *base))
    ]
    return [each for each in dict.fromkeys(family) if each != key]


def method_of(
    project: Project, syntax: Syntax, class_name: str, attribute: str
) -> list[FunctionKey]:
    """Find a method of a class, inherited ones included."""
    for place, name in lineage(project, syntax, class_name):
        if f"{name}.{attribute}" in place.functions:
            return [(place.source.path, f"{name}.{attribute}")]
    return []


def method_above(
    project: Project, syntax: Syntax, class_name: str, attribute: str
) -> list[FunctionKey]:
    """Find the method that ``super()`` leads to in a class."""
    for place, name in lineage(project, syntax, class_name)[1:]:
        if f"{name}.{attribute}" in place.functions:
            return [(place.source.path, f"{name}.{attribute}")]
    return []


def is_super(node: ast.AST) -> bool:
    """True if an expression is ``super()``, with or without arguments."""
    return isinstance(node, ast.Call) and dotted(node.func) == "super"


def annotated(
    project: Project, syntax: Syntax, annotation: ast.expr, depth: int = 0
) -> list[tuple[Syntax, str]]:
    """Find the project's classes that an annotation names, in unions and strings too.

    ``depth``: how many names for annotations led there.
    """
    return [
        found
        for each in alternatives(annotation)
        for found in _annotated(project, syntax, each, depth)
    ]


def _annotated(
    project: Project, syntax: Syntax, annotation: ast.expr, depth: int
) -> list[tuple[Syntax, str]]:
    if isinstance(annotation, ast.Subscript):
        if last_name(annotation.value) not in ("Annotated", "type", "Type"):
            return []
        inner = annotation.slice
        first = inner.elts[0] if isinstance(inner, ast.Tuple) else inner
        return annotated(project, syntax, first, depth)
    found = project.class_named(syntax, dotted(annotation) or "")
    if found is not None or depth == ALIASES:
        return [found] if found is not None else []
    place, values = project.variable(syntax, dotted(annotation) or "")
    values = values or syntax.values_at_top(dotted(annotation) or "")
    return [  # AnyModel = Small | Large
        each for v in values for each in annotated(project, place, v, depth + 1)
    ]


def has_library_base(project: Project, syntax: Syntax, class_name: str) -> bool:
    """True if a class derives from one that the project does not define, and that does something."""
    names = [dotted(base) or "" for base in syntax.classes[class_name].bases]
    plain = ("ABC", "object", "Protocol", "Generic", "")
    return any(
        name.split(".")[-1] not in plain and project.class_named(syntax, name) is None
        for name in names
    )


def is_enum(place: Syntax, class_name: str) -> bool:
    """True if a class is an enumeration, whose members have values that JSON can hold."""
    bases = place.classes[class_name].bases
    return any((dotted(base) or "").endswith("Enum") for base in bases)


def members_of(place: Syntax, class_name: str) -> tuple[str, ...] | None:
    """Return the values of an enumeration's members, as source; None of another class."""
    if not is_enum(place, class_name):
        return None
    body = place.classes[class_name].body
    return tuple(ast.unparse(e.value) for e in body if isinstance(e, ast.Assign))


def class_itself(
    project: Project, syntax: Syntax, value: ast.expr
) -> tuple[Syntax, str] | None:
    """Return the project's class that an expression names.

    In its own body that is also ``cls``, ``type(self)`` or ``self.__class__``.
    """
    match value:
        case (
            ast.Name("cls")
            | ast.Attribute(ast.Name("self"), "__class__")
            | ast.Call(ast.Name("type"), [ast.Name("self")])
        ):
            around = syntax.class_around(syntax.owner(value))
            return (syntax, around) if around else None
    return project.class_named(syntax, dotted(value) or "")


def stored_by(place: Syntax, class_name: str, attribute: str) -> Iterator[ast.expr]:
    """Yield what a class assigns to an attribute: of ``self``, of ``cls``, or as its field."""
    for target in (f"self.{attribute}", f"cls.{attribute}"):
        for where, value in place.assignments.get(target, ()):
            if where.startswith(f"{class_name}."):
                yield value
    for where, value in place.assignments.get(attribute, ()):
        if where == class_name:
            yield value
    for _, value in place.assignments.get(f"{class_name}.{attribute}", ()):
        yield value


def declared(
    project: Project, syntax: Syntax, class_name: str, attribute: str
) -> Iterator[tuple[Syntax, ast.expr]]:
    """Yield the annotations of an attribute, in the body of a class or where it is assigned."""
    for place, name in lineage(project, syntax, class_name):
        for statement in place.classes[name].body:
            if (
                isinstance(statement, ast.AnnAssign)
                and dotted(statement.target) == attribute
            ):
                yield place, statement.annotation
        for where, annotation in place.annotations.get(f"self.{attribute}", ()):
            if where.startswith(f"{name}."):
                yield place, annotation
