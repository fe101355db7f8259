"""Finds the class that an agent is an instance of, where another defines what runs it.

A base class often has the loop, and a class of the project the tools and the prompt.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from art_adapt.code.classes import FunctionKey, has_library_base, lineage
from art_adapt.code.index import constructed, derived_from, protocols_of
from art_adapt.code.nodes import Function, assignment, decorator_names, dotted
from art_adapt.code.project import Project
from art_adapt.code.protocols import is_protocol
from art_adapt.code.syntax import Syntax
from art_adapt.survey.inputs.parameters import constructor_of
from art_adapt.survey.model import EntryPoint

ABSTRACT = ("abstractmethod", "abstractproperty")


def with_instances(project: Project, entry: EntryPoint) -> Iterator[EntryPoint]:
    """Yield the entry point for each class whose instances it may be a method of.

    That is the class that defines it; but the classes derived from it in files that the
    user named, where it is in another file, and any where its own is abstract, or where
    only those are made. Those that the project makes come first, and last of these what others of
    them make.
    """
    if entry.class_name is None:
        yield entry
        return
    syntax = project.files[entry.home]
    derived = inheriting(project, entry)
    made = [each for each in derived if constructed(project, *each)]
    made.sort(key=lambda each: _is_made_in(project, each, derived))
    derived = [*made, *(each for each in derived if each not in made)]
    given = [each for each in derived if each[0].source.path in project.given]
    if entry.home in project.given or not given:
        if is_abstract(project, syntax, entry.class_name):
            chosen = derived
        else:
            chosen = [] if constructed(project, syntax, entry.class_name) else made
    else:
        chosen = given
    for place, name in chosen:
        yield as_method_of(project, entry, place, name)
    if not chosen:
        yield replace(entry, is_abstract=is_abstract(project, syntax, entry.class_name))


def _is_made_in(
    project: Project, one: tuple[Syntax, str], others: Sequence[tuple[Syntax, str]]
) -> bool:
    """True if only methods of other classes make one: an agent that a leading one sends out."""
    sites = constructed(project, *one)
    leading = {
        (place.source.path, name) for place, name in others if (place, name) != one
    }
    return bool(sites) and all(
        (place.source.path, place.class_around(place.owner(call))) in leading
        for place, call in sites
    )


def as_constructed(
    project: Project, entry: EntryPoint, known: Container[Path]
) -> EntryPoint:
    """Describe a method as one of the class that the project makes, where its own is never made.

    ``known``: the files of the agent. A class of another one is another agent, as are several.
    """
    if entry.class_name is None:
        return entry
    syntax = project.files[entry.home]
    if constructed(project, syntax, entry.class_name):
        return entry
    made = [each for each in inheriting(project, entry) if constructed(project, *each)]
    is_known = len(made) == 1 and made[0][0].source.path in known
    return as_method_of(project, entry, *made[0]) if is_known else entry


def inheriting(project: Project, entry: EntryPoint) -> list[tuple[Syntax, str]]:
    """Return the classes that inherit the method of an entry point, and can be made."""
    assert entry.class_name is not None
    method = entry.called.rpartition(".")[2]
    return [
        (place, name)
        for place, name in derived_from(
            project, project.files[entry.home], entry.class_name
        )
        if f"{name}.{method}" not in place.functions
        and name.rpartition(".")[0] not in place.functions  # of one call only
        and not is_abstract(project, place, name)
    ]


def as_method_of(
    project: Project, entry: EntryPoint, place: Syntax, class_name: str
) -> EntryPoint:
    """Describe a method as one of a class that inherits it."""
    return replace(
        entry,
        called=f"{class_name}.{entry.called.rpartition('.')[2]}",
        home=place.source.path,
        package=project.package(place),
        class_name=class_name,
        constructor=constructor_of(project, place, class_name),
    )


def is_abstract(project: Project, syntax: Syntax, class_name: str) -> bool:
    """True if only classes derived from a class can be used.

    It leaves a method abstract, or it reads an attribute that nothing sets but a class
    derived from it. A Protocol is abstract as well.
    """
    family = lineage(project, syntax, class_name)
    if family and is_protocol(syntax.classes[class_name]):
        return True
    implemented: set[str] = set()
    for place, name in family:
        for method, function in place.methods_of(name):
            if method in implemented:
                continue
            if _is_declared_abstract(function):
                return True
            if _only_refuses(function) and _is_overridden(
                project, syntax, class_name, method
            ):
                return True
            implemented.add(method)
        implemented |= _assigned_in(place, name, valued=True)
    derived = derived_from(project, syntax, class_name)
    if not derived or any(has_library_base(project, *each) for each in family):
        return False  # a library's class may set what this one reads
    missing = _read_by(family) - _set_by(family)
    return bool(missing & _set_by(derived))


def may_be_abstract(project: Project, syntax: Syntax, class_name: str) -> bool:
    """True if a class may be one that only files not yet read derive from.

    Nothing makes an instance of it, and it refuses what it does not implement, or reads an
    attribute that nothing sets.
    """
    if is_abstract(project, syntax, class_name):
        return True
    family = lineage(project, syntax, class_name)
    if constructed(project, syntax, class_name) or any(
        has_library_base(project, *each) for each in family
    ):
        return False
    refuses = any(
        _only_refuses(method)
        for place, name in family
        for _, method in place.methods_of(name)
    )
    return refuses or bool(_read_by(family) - _set_by(family))


def _is_declared_abstract(function: Function) -> bool:
    return not set(ABSTRACT).isdisjoint(decorator_names(function.node))


def _only_refuses(function: Function) -> bool:
    """True if a method does nothing but raise ``NotImplementedError``."""
    *before, last = function.node.body
    raised = last.exc if isinstance(last, ast.Raise) else None
    name = dotted(raised.func if isinstance(raised, ast.Call) else raised or last)
    return name == "NotImplementedError" and all(
        isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
        for each in before
    )


def _is_overridden(
    project: Project, syntax: Syntax, class_name: str, method: str
) -> bool:
    return any(
        f"{name}.{method}" in place.functions
        for place, name in derived_from(project, syntax, class_name)
    )


def implemented_by(
    project: Project, syntax: Syntax, function: Function
) -> tuple[Path, str] | None:
    """Find the abstract method of a base class that a method implements, if it does."""
    owner, _, name = function.qualname.rpartition(".")
    for place, ancestor in lineage(project, syntax, owner)[1:]:
        base = place.functions.get(f"{ancestor}.{name}")
        if base is not None and (_is_declared_abstract(base) or _only_refuses(base)):
            return place.source.path, base.qualname
    for place, protocol in protocols_of(project, syntax, owner):
        if f"{protocol}.{name}" in place.functions:
            return place.source.path, f"{protocol}.{name}"
    return None


def asks_the_model(
    project: Project, syntax: Syntax, class_name: str, reaching: Container[FunctionKey]
) -> bool:
    """True if a method of a class, or one that it inherits, asks the model in training.

    ``reaching``: the functions from which a policy call can be reached.
    """
    return any(
        (place.source.path, method.qualname) in reaching
        for place, owner in lineage(project, syntax, class_name)
        for _, method in place.methods_of(owner)
    )


_Classes = Sequence[tuple[Syntax, str]]


def _read_by(classes: _Classes) -> set[str]:
    """Return the attributes of themselves that the methods of classes read."""
    return {
        node.attr
        for place, name in classes
        for _, function in place.methods_of(name)
        for node in place.owned_by(function.qualname)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and dotted(node.value) == "self"
    }


def _assigned_in(place: Syntax, class_name: str, *, valued: bool) -> set[str]:
    """Return the attributes that the body of a class declares, or gives a value."""
    return {
        dotted(target) or ""
        for statement in place.classes[class_name].body
        for targets, value in [assignment(statement)]
        if value is not None or not valued
        for target in targets
    }


def _set_by(classes: _Classes) -> set[str]:
    """Return the attributes that classes have or set."""
    found: set[str] = set()
    for place, name in classes:
        found |= _assigned_in(place, name, valued=False)
        for method, function in place.methods_of(name):
            found.add(method)
            found |= {
                node.attr
                for node in place.owned_by(function.qualname)
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
            }
    return found
