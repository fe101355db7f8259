"""Finds the classes of the project that a value may be an instance of."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code import resolution  # which asks this module, too
from art_adapt.code.annotations import result_annotation
from art_adapt.code.classes import (
    FunctionKey,
    annotated,
    class_itself,
    declared,
    lineage,
    method_of,
    stored_by,
)
from art_adapt.code.containers import (
    container_of,
    copied,
    element_annotation,
    element_at,
    held_by,
    put_into,
    unpacked,
)
from art_adapt.code.given import (
    function_given,
    functions_around,
    given_for,
    is_parameter,
)
from art_adapt.code.index import classes_below
from art_adapt.code.nodes import (
    choices,
    decorator_names,
    defaults_of,
    dotted,
    last_name,
)
from art_adapt.code.project import Project
from art_adapt.code.questions import question
from art_adapt.code.syntax import (
    MODULE_LEVEL,
    PROPERTIES,
    Syntax,
    return_values,
    yielded_values,
)

CONTEXTS = {"contextmanager", "asynccontextmanager"}


def classes_of(
    project: Project, syntax: Syntax, value: ast.expr
) -> list[tuple[Syntax, str]]:
    """Return the project's classes that a value may be an instance of.

    They follow from what the value is assigned, from the annotation of a parameter or an
    attribute, and from what a function returns.
    """
    # A parameter that is read forty times is one question.
    return _classes_of(project, syntax, syntax.representative(value))


@question
def _classes_of(
    project: Project, syntax: Syntax, value: ast.expr
) -> Iterator[tuple[Syntax, str]]:
    if isinstance(value, ast.Await):
        yield from classes_of(project, syntax, value.value)
    elif isinstance(value, ast.BoolOp):
        for part in value.values:
            yield from classes_of(project, syntax, part)
    elif isinstance(value, ast.IfExp):
        yield from classes_of(project, syntax, value.body)
        yield from classes_of(project, syntax, value.orelse)
    elif isinstance(value, ast.Call):
        yield from _classes_made(project, syntax, value)
    elif isinstance(value, ast.Subscript):
        for place, owner in classes_of(project, syntax, value.value):
            for key in method_of(project, place, owner, "__getitem__"):
                yield from _returned_by(project, key)
    elif isinstance(value, ast.Name) and value.id == "self":
        yield from owners(project, syntax, value)
    elif dotted(value) is not None:
        for annotation in syntax.annotations_of(value):
            yield from annotated(project, syntax, annotation)
        for assigned in _said(syntax, value):
            if isinstance(syntax.parents.get(assigned), ast.withitem):
                yield from _entered(project, syntax, assigned)
            else:
                yield from classes_of(project, syntax, assigned)
        for place, given in given_for(project, syntax, value):
            yield from classes_of(project, place, given)
        for call, index in unpacked(syntax, dotted(value) or "", syntax.owner(value)):
            yield from _returned_classes(project, syntax, call.func, index)
        if (variable := project.variable_at(syntax, value)) is not None:
            place, name = variable
            for where, annotation in place.annotations.get(name, ()):
                if where == MODULE_LEVEL:
                    yield from annotated(project, place, annotation)
            for assigned in place.values_at_top(name):
                yield from classes_of(project, place, assigned)
    if isinstance(value, ast.Attribute):
        for place, owner in owners(project, syntax, value.value):
            yield from _attribute_classes(project, place, owner, value.attr)


def _classes_made(
    project: Project, syntax: Syntax, call: ast.Call
) -> Iterator[tuple[Syntax, str]]:
    """Find the classes of what a call gives: a class, a copy, or what a function returns."""
    if (found := class_itself(project, syntax, call.func)) is not None:
        yield found
    elif last_name(call.func) == "__new__" and call.args:
        yield from _class_objects(project, syntax, call.args[0])
    elif (original := copied(call)) is not None:
        yield from classes_of(project, syntax, original)
    else:
        for each in _said(syntax, call.func):
            if isinstance(each, ast.Lambda):
                yield from classes_of(project, syntax, each.body)
            else:
                yield from _class_objects(project, syntax, each)
        yield from _classes_in(project, syntax, call.func)
        yield from _returned_classes(project, syntax, call.func)


def _said(syntax: Syntax, value: ast.expr) -> list[ast.expr]:
    """Return what a file assigns to a name, and the default of a parameter."""
    function = function_given(syntax, value)
    pairs = defaults_of(function.node) if function is not None else ()
    defaults = [default for name, default in pairs if name == dotted(value)]
    return [*syntax.values_of(value), *defaults]


def _entered(
    project: Project, syntax: Syntax, context: ast.expr
) -> Iterator[tuple[Syntax, str]]:
    """Find the classes of what ``with`` binds: what ``__enter__`` returns, if it is known."""
    for place, owner in classes_of(project, syntax, context):
        methods = [
            key
            for name in ("__enter__", "__aenter__")
            for key in method_of(project, place, owner, name)
        ]
        returned = [each for key in methods for each in _returned_by(project, key)]
        yield from returned or [(place, owner)]


def owners(
    project: Project, syntax: Syntax, value: ast.expr
) -> list[tuple[Syntax, str]]:
    """Return the classes whose attributes a value has: its own, or that of an instance."""
    if isinstance(value, ast.Name) and value.id == "self":
        return [(syntax, syntax.class_around(syntax.owner(value)))]
    itself = class_itself(project, syntax, value)
    return classes_of(project, syntax, value) if itself is None else [itself]


def family(
    project: Project, syntax: Syntax, value: ast.expr
) -> list[tuple[Syntax, str]]:
    """Return the classes that a value may be an instance of, with those they are derived from."""
    return [
        each
        for place, owner in owners(project, syntax, value)
        for each in lineage(project, place, owner)
    ]


def _attribute_classes(
    project: Project, syntax: Syntax, class_name: str, attribute: str
) -> Iterator[tuple[Syntax, str]]:
    """Find the classes of an attribute of a class: declared, assigned, or a property."""
    for place, annotation in declared(project, syntax, class_name, attribute):
        yield from annotated(project, place, annotation)
    for place, name in lineage(project, syntax, class_name):
        for value in stored_by(place, name, attribute):
            yield from classes_of(project, place, value)
        method = place.functions.get(f"{name}.{attribute}")
        if method is not None and PROPERTIES & set(decorator_names(method.node)):
            yield from _returned_by(project, (place.source.path, method.qualname))


def _returned_classes(
    project: Project, syntax: Syntax, function: ast.expr, index: int | None = None
) -> list[tuple[Syntax, str]]:
    """Find the classes of what a function of the project returns.

    ``index``: of one element of the tuple that it returns.
    """
    return [
        each
        for key in resolution.resolve(project, syntax, function)
        for each in _returned_by(project, key, index)
    ]


def _returned_by(
    project: Project, key: FunctionKey, index: int | None = None
) -> Iterator[tuple[Syntax, str]]:
    """Find the classes of what a function returns, or a context manager's function gives."""
    place = project.home(key[0])
    node = place.functions[key[1]].node
    annotations = [node.returns] if node.returns is not None else []
    returned = return_values(place, key[1])
    if CONTEXTS & set(decorator_names(node)):
        annotations = [a for each in annotations if (a := element_annotation(each))]
        returned = yielded_values(place, key[1])
    if index is not None:
        annotations = [a for each in annotations for a in element_at(each, index)]
        returned = [v for each in returned for v in element_at(each, index)]
    for annotation in annotations:
        yield from annotated(project, place, annotation)
    for value in returned:
        yield from classes_of(project, place, value)


def _classes_in(
    project: Project, syntax: Syntax, function: ast.expr
) -> Iterator[tuple[Syntax, str]]:
    """Find the classes of which one is called.

    Those are in ``{"gpt": GPT, "echo": Echo}[kind]``, in a table that is filled below, or
    what a function returns: ``class_for(kind)()``.
    """
    for annotation in syntax.annotations_of(function):
        if (result := result_annotation(annotation)) is not None:
            yield from annotated(project, syntax, result)
    for each in (function, *syntax.values_of(function)):
        held: list[ast.expr] = []
        if isinstance(each, ast.IfExp | ast.BoolOp):
            held = choices(each)
        elif isinstance(each, ast.Call) and (
            functions := resolution.resolve(project, syntax, each.func)
        ):
            for path, qualname in functions:
                place = project.home(path)
                for returned in return_values(place, qualname):
                    yield from _class_objects(project, place, returned)
        elif (container := container_of(syntax, each)) is not None:
            whole = (container, *syntax.values_of(container))
            held = [element for value in whole for element in held_by(value)[0]]
            held += put_into(syntax, dotted(container) or "", MODULE_LEVEL)[0]
        for element in held:
            yield from _class_objects(project, syntax, element)


def _class_objects(
    project: Project, syntax: Syntax, value: ast.expr
) -> Iterator[tuple[Syntax, str]]:
    """Find the classes that a value itself is, or that a decorator is put above."""
    for each in (value, *syntax.values_of(value)):
        if (found := class_itself(project, syntax, each)) is not None:
            yield found
        elif isinstance(each, ast.Call) and last_name(each.func) == "partial":
            yield from _class_objects(project, syntax, each.args[0])
        elif is_parameter(syntax, each):
            for function in functions_around(syntax, each):
                yield from classes_below(project, function.node.name)
