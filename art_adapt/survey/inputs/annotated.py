"""Tells which class a parameter's annotation is, as it is written or as runs have shown."""

from __future__ import annotations

import ast
from pathlib import Path

from art_adapt.code.annotations import bare
from art_adapt.code.classes import lineage
from art_adapt.code.nodes import Function, dotted
from art_adapt.code.project import Project
from art_adapt.code.syntax import Syntax

# Annotations that admit both what JSON holds and what it does not.
VAGUE = ("Any", "typing.Any", "object", "list", "dict", "List", "Dict", "List[Any]")


def class_of(
    project: Project, syntax: Syntax, annotation: ast.expr
) -> tuple[Syntax, str] | None:
    """Return the class of the project that an annotation is, with the file that defines it."""
    return project.class_named(syntax, dotted(bare(annotation)) or "")


def as_shown(
    project: Project, syntax: Syntax, function: Function, argument: ast.arg
) -> tuple[Syntax, ast.arg]:
    """Return an argument, annotated with the class that runs gave by it, and the file to name it.

    Of several classes that implement an annotation, it is the one that runs gave. A class of the
    project is named in its own file, a standard one where the function is.
    """
    shown = project.session.shown
    given = shown.class_given(syntax.source.path, function.qualname, argument.arg)
    if given is None:
        return syntax, argument
    home, name = given
    place, annotation = project.files.get(Path(home), syntax), argument.annotation
    if annotation is not None and ast.unparse(annotation) not in VAGUE:
        base = class_of(project, syntax, annotation)
        if base is None or base not in lineage(project, place, name)[1:]:
            return syntax, argument
    spelled = name if name in (*place.classes, "Path") else _named(syntax, home, name)
    if not spelled:
        return syntax, argument
    return place, ast.arg(argument.arg, ast.parse(spelled, mode="eval").body)


def _named(syntax: Syntax, module: str, name: str) -> str:
    """Return how a file names what it imports of a module; "" if it does not."""
    for head in syntax.imports:
        for spelled in (head, f"{head}.{name}"):
            named = ast.parse(spelled, mode="eval").body
            if syntax.qualified(named) == f"{module}.{name}":
                return spelled
    return ""
