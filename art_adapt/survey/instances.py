"""Finds the class that an agent is an instance of, where another defines what runs it.

A base class often has the loop, and a class of the project the tools and the prompt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from art_adapt.survey.call_graph import lineage
from art_adapt.survey.model import EntryPoint
from art_adapt.survey.parameters import constructor_of
from art_adapt.survey.project import Project
from art_adapt.survey.syntax import Syntax, decorator_names

ABSTRACT = ("abstractmethod", "abstractproperty")


def with_instances(project: Project, entry: EntryPoint) -> Iterator[EntryPoint]:
    """Yield the entry point for each class whose instances it may be a method of.

    That is the class that defines it; but the classes derived from it in files that the
    user named, where it is in another file, and any where its own is abstract.
    """
    if entry.class_name is None:
        yield entry
        return
    syntax = project.files[entry.home]
    method = entry.called.rpartition(".")[2]
    derived = [
        (place, name)
        for place, name in project.derived(syntax, entry.class_name)
        if f"{name}.{method}" not in place.functions
        and not is_abstract(project, place, name)
    ]
    given = [each for each in derived if each[0].source.path in project.given]
    if entry.home in project.given or not given:
        chosen = derived if is_abstract(project, syntax, entry.class_name) else []
    else:
        chosen = given
    for place, name in chosen:
        package, stem = project.package(place), place.source.path.stem
        yield replace(
            entry,
            called=f"{name}.{method}",
            home=place.source.path,
            package=package,
            module=f".{stem}" if package else stem,
            class_name=name,
            constructor=constructor_of(project, place, name),
        )
    if not chosen:
        yield replace(entry, is_abstract=is_abstract(project, syntax, entry.class_name))


def is_abstract(project: Project, syntax: Syntax, class_name: str) -> bool:
    """Whether a class has a method that is declared abstract and implemented nowhere."""
    implemented: set[str] = set()
    for place, name in lineage(project, syntax, class_name):
        for qualname, function in place.functions.items():
            owner, _, method = qualname.rpartition(".")
            if owner != name or method in implemented:
                continue
            if not set(ABSTRACT).isdisjoint(decorator_names(function.node)):
                return True
            implemented.add(method)
    return False
