"""Finds the classes that annotations name and that the agent's own file does not have."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from art_adapt.code.annotations import bare
from art_adapt.code.importable import ImportedName, imported_name, module_at
from art_adapt.code.nodes import last_name
from art_adapt.code.project import Project
from art_adapt.code.syntax import Syntax
from art_adapt.survey.inputs.rebuilt import classes_in
from art_adapt.survey.model import EntryPoint, Parameter


def classes_named(project: Project, entry: EntryPoint) -> tuple[ImportedName, ...]:
    """Return how a train module imports what annotations name in another file, or for a checker.

    ``list[Entry]`` of a constructor stands for the ``Entry`` of its own file. What is imported
    ``if TYPE_CHECKING`` no module has when it runs. A record that may be left out counts: a run may
    give it.
    """
    agent = project.files[entry.home]
    found: dict[str, ImportedName] = {}
    for part in (each for need in entry.needs for each in _within(need)):
        place = project.files.get(part.annotated_in or entry.home)
        if place is None:
            continue
        for name in _names_of(part):
            head = name.partition(".")[0]
            if head in found or _is_had(agent, place, head):
                continue
            if (imported := _import_of(project, agent, place, head)) is not None:
                found[head] = imported
    return tuple(found.values())


def _within(part: Parameter) -> Iterator[Parameter]:
    yield part
    for each in part.fields or ():
        yield from _within(each)


def _names_of(part: Parameter) -> Iterator[str]:
    """Yield the names in what a parameter's objects are made by."""
    for spelled in filter(None, (part.element, part.validated, part.rebuilt)):
        yield from classes_in(spelled)
    if part.fields is not None and part.annotation is not None:
        record = bare(ast.parse(part.annotation, mode="eval").body)
        yield from classes_in(ast.unparse(record))


def _is_had(agent: Syntax, place: Syntax, name: str) -> bool:
    """True if the agent's module has what ``name`` is in the annotation's file."""
    if place is not agent or _is_standard(agent, name):
        return False
    return name not in agent.imports or not _is_for_a_checker(agent, name)


def _is_standard(syntax: Syntax, name: str) -> bool:
    """True if a name is the standard library's: no other module need have it."""
    imported = syntax.imports.get(name)
    top = "" if imported is None else imported.module.partition(".")[0]
    return top in sys.stdlib_module_names


def _is_for_a_checker(syntax: Syntax, name: str) -> bool:
    """True if a name is imported ``if TYPE_CHECKING`` only."""
    return any(
        isinstance(outer, ast.If) and last_name(outer.test) == "TYPE_CHECKING"
        for outer in syntax.ancestors(syntax.imports[name].node)
    )


def _import_of(
    project: Project, agent: Syntax, place: Syntax, name: str
) -> ImportedName | None:
    if name in place.imports:
        return imported_name(project, agent, place, name)
    module = module_at(project, agent, place.source.path)
    return None if module is None else ImportedName(module, name)
