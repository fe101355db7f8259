"""Resolves what is called on the elements of lists and dicts: tools, providers, agents."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.classes import (
    FunctionKey,
    annotated,
    declared,
    method_of,
    with_overrides,
)
from art_adapt.code.containers import (
    container_of,
    element_annotation,
    held_by,
    put_into,
)
from art_adapt.code.index import derived_from
from art_adapt.code.instances import classes_of, family, owners
from art_adapt.code.nodes import dotted
from art_adapt.code.project import Project
from art_adapt.code.questions import question
from art_adapt.code.resolution import referred, resolve
from art_adapt.code.run_time_names import is_inspection, named_at_run_time
from art_adapt.code.syntax import MODULE_LEVEL, Syntax, return_values, yielded_values
from art_adapt.code.values import Placed, steps


def resolve_in_tables(
    project: Project, syntax: Syntax, node: ast.expr
) -> list[FunctionKey]:
    """Find the functions that a node may refer to as an element of a list or dict.

    That is ``TOOLS[name]`` and what a name for it is assigned, and ``tool.execute`` where
    ``tool`` is one of those in a list: any of them. ``getattr(self, name)`` looks a method
    up in its class.
    """
    return list(dict.fromkeys(_in_tables(project, syntax, node)))


def _in_tables(
    project: Project, syntax: Syntax, node: ast.expr
) -> Iterator[FunctionKey]:
    for value in (node, *syntax.values_of(node)):
        yield from named_at_run_time(project, syntax, value)
        for place, container in _containers(project, syntax, value):
            for where, element in _elements(project, place, container):
                yield from referred(project, where, element)
                yield from named_at_run_time(project, where, element)
    holder, method = (
        (node.value, node.attr)
        if isinstance(node, ast.Attribute)
        else (node, "__call__")
    )
    for value in (holder, *syntax.values_of(holder)):
        for place, name in _taken_classes(project, syntax, value):
            yield from with_overrides(project, place, name, method)


@question
def _containers(project: Project, syntax: Syntax, value: ast.expr) -> Iterator[Placed]:
    """Find the containers that a value is taken from: here, or in a function that looks it up.

    ``self.get(name)`` of a registry returns ``self._tools[name]``.
    """
    looked_up: list[FunctionKey] = []
    if isinstance(value, ast.Call):
        looked_up = resolve(project, syntax, value.func)
    elif isinstance(value, ast.Subscript):
        for place, owner in classes_of(project, syntax, value.value):
            looked_up += method_of(project, place, owner, "__getitem__")
    for path, qualname in looked_up:
        place = project.home(path)
        for returned in return_values(place, qualname):
            for each in (returned, *place.values_of(returned)):
                yield from _containers(project, place, each)
    container = container_of(syntax, value)
    if container is not None and not looked_up:
        yield syntax, container


def _taken_classes(
    project: Project, syntax: Syntax, value: ast.expr
) -> Iterator[tuple[Syntax, str]]:
    """Find the classes of a value that is an element, or made by a class that is one."""
    for place, container in _containers(project, syntax, value):
        yield from _element_classes(project, place, container)
    if isinstance(value, ast.Call):
        yield from _made_by_element(project, syntax, value)


def _made_by_element(
    project: Project, syntax: Syntax, call: ast.Call
) -> Iterator[tuple[Syntax, str]]:
    """Find the classes in a container of which a call makes an instance: ``TOOLS[name]()``.

    ``TOOLS.get(name, Other)()`` may make one of another class.
    """
    for value in (call.func, *syntax.values_of(call.func)):
        container = container_of(syntax, value)
        if container is None:
            continue
        otherwise = value.args[1:] if isinstance(value, ast.Call) else []
        elements = [*_elements(project, syntax, container)]
        for place, element in [*elements, *((syntax, each) for each in otherwise)]:
            if (base := _base_of_subclasses(element)) is not None:
                above = project.class_named(place, dotted(base) or "")
                yield from derived_from(project, *above) if above else ()
            found = project.class_named(place, dotted(element) or "")
            if found is not None:
                yield found


def _base_of_subclasses(value: ast.expr) -> ast.expr | None:
    """Return the class in ``Tool.__subclasses__()``."""
    match value:
        case ast.Call(func=ast.Attribute(value=base, attr="__subclasses__")):
            return base
    return None


@question
def _elements(
    project: Project, syntax: Syntax, container: ast.expr
) -> Iterator[Placed]:
    """Find what a container holds, with the files that it stands in; of tuples, also their parts."""
    made_of = [(syntax, *held_by(container))]
    made_of += [
        (place, [], [each]) for place, each in _values(project, syntax, container)
    ]
    if isinstance(container, ast.Name):
        owner = syntax.owner(container)
        made_of.append((syntax, *put_into(syntax, container.id, owner)))
        if (defined := project.variable_named(syntax, container.id)) is not None:
            made_of.append((defined[0], *put_into(*defined, MODULE_LEVEL)))
    elif isinstance(container, ast.Attribute):
        for place, _ in family(project, syntax, container.value):
            name = f"self.{container.attr}"
            made_of.append((place, *put_into(place, name, MODULE_LEVEL)))
        module = project.imported(syntax, dotted(container.value) or "")
        if isinstance(module, Syntax):  # tools.TOOLS
            filled = put_into(module, container.attr, MODULE_LEVEL)
            made_of.append((module, *filled))
    elif isinstance(container, ast.Call):  # of a generator
        for path, qualname in resolve(project, syntax, container.func):
            place = project.home(path)
            made_of.append((place, yielded_values(place, qualname), []))
    if is_inspection(syntax, container) or _base_of_subclasses(container) is not None:
        yield syntax, container  # it stands for all that it lists
    for place, held, others in made_of:
        for each in held:
            if (other := container_of(place, each)) is None:
                yield place, each
                parts = each.elts if isinstance(each, ast.Tuple) else []
                yield from ((place, part) for part in parts)
            else:  # tool, in [tool for tool in tools]
                yield from _elements(project, place, other)
        for other in others:
            yield from _elements(project, place, other)


def _values(project: Project, syntax: Syntax, value: ast.expr) -> Iterator[Placed]:
    """Yield what a value may be, one step on, in a container as well."""
    yield from steps(project, syntax, value)
    container = container_of(syntax, value)
    if container is not None:
        yield from _elements(project, syntax, container)


def holds_objects(project: Project, syntax: Syntax, value: ast.expr) -> bool:
    """True if a list or dict holds what JSON cannot: a function, or an object of a class."""
    return any(
        isinstance(each, ast.Lambda)
        or bool(referred(project, place, each))
        or bool(classes_of(project, place, each))
        for place, each in _elements(project, syntax, value)
    )


def _element_classes(
    project: Project, syntax: Syntax, container: ast.expr
) -> Iterator[tuple[Syntax, str]]:
    """Find the classes of what a container holds, as far as it is seen or annotated."""
    for place, element in _elements(project, syntax, container):
        yield from classes_of(project, place, element)
        if isinstance(element, ast.Call):
            yield from _made_by_element(project, place, element)
    for place, annotation in _annotations(project, syntax, container):
        if (inner := element_annotation(annotation)) is not None:
            yield from annotated(project, place, inner)


@question
def _annotations(
    project: Project, syntax: Syntax, container: ast.expr
) -> Iterator[Placed]:
    """Yield the annotations of a container, under all names that lead to it."""
    yield from ((syntax, each) for each in syntax.annotations_of(container))
    if isinstance(container, ast.Attribute):
        for place, owner in owners(project, syntax, container.value):
            yield from declared(project, place, owner, container.attr)
    elif isinstance(container, ast.Call):
        for path, qualname in resolve(project, syntax, container.func):
            place = project.home(path)
            returns = place.functions[qualname].node.returns
            yield from [(place, returns)] if returns is not None else []
    held, others = held_by(container)
    taken = [whole for each in held if (whole := container_of(syntax, each))]
    same = [(syntax, each) for each in (*others, *taken)]
    for place, each in (*same, *_values(project, syntax, container)):
        yield from _annotations(project, place, each)
