"""Resolves names and attributes to the functions and classes of the project."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

from art_adapt.code.classes import (
    FunctionKey,
    annotated,
    class_around,
    declared,
    is_super,
    lineage,
    method_above,
    method_of,
    with_overrides,
)
from art_adapt.code.containers import (
    container_of,
    copied,
    element_at,
    held_by,
    put_into,
    unpacked,
)
from art_adapt.code.given import functions_around, given_for, is_parameter
from art_adapt.code.index import classes_below, decorated_with_only
from art_adapt.code.nodes import dotted, keyword, last_name
from art_adapt.code.project import Project
from art_adapt.code.questions import DEEPEST, ask
from art_adapt.code.syntax import MODULE_LEVEL, Syntax, return_values

WRAPPERS = ("partial", "cache", "lru_cache")  # of functools, around a function


def resolve_name(project: Project, syntax: Syntax, node: ast.Name) -> list[FunctionKey]:
    """Find the function that a name refers to; all methods of a class."""
    found = project.class_named(syntax, node.id)
    if found is None:
        return _named(project, syntax, node.id, syntax.owner(node))
    place, class_name = found
    return [
        (place.source.path, qualname)
        for qualname in place.functions
        if qualname.startswith(f"{class_name}.")
    ]


def resolve(project: Project, syntax: Syntax, node: ast.expr) -> list[FunctionKey]:
    """Find the functions that a name or attribute refers to.

    A class refers to its constructor. A method of an object whose class is known from its
    construction or an annotation includes the overrides in classes derived from it.
    """
    name = dotted(node)
    if name is None:
        if isinstance(node, ast.Attribute) and is_super(node.value):
            around = class_around(syntax, syntax.owner(node))
            return method_above(project, syntax, around, node.attr)
        # Agent(...).run, or get_agent(...).run
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call):
            named = _members(project, syntax, node.value.func, node.attr)
            return named or _of_instances(project, syntax, node.value, node.attr)
        if isinstance(node, ast.Call):  # Agent()(task)
            return _of_instances(project, syntax, node, "__call__")
        return []
    head, _, rest = name.partition(".")
    owner = syntax.owner(node)
    if not rest:
        return (
            _named(project, syntax, head, owner)
            or [
                key
                for value in syntax.values_of(node)
                for key in meant_by(project, syntax, value)
            ]
            or _of_instances(project, syntax, node, "__call__")
        )
    assert isinstance(node, ast.Attribute)
    if head in ("self", "cls") and "." not in rest:
        found = with_overrides(project, syntax, class_around(syntax, owner), rest)
        return found or _stored_functions(project, syntax, node)
    if head in syntax.imports:
        target = project.imported(syntax, head)
        if isinstance(target, Syntax):  # import helper; helper.run(...)
            if "." not in rest:
                return _named(project, target, rest, MODULE_LEVEL)
        elif target is not None and "." not in rest:  # Agent.run of an imported Agent
            found = method_of(project, target[0], target[1], rest)
            if found:
                return found
    found = _of_instances(project, syntax, node.value, node.attr)
    found = list(dict.fromkeys([*found, *_stored_functions(project, syntax, node)]))
    from art_adapt.code.held_modules import functions_in  # which asks this module

    found = found or ([] if "." in rest else method_of(project, syntax, head, rest))
    return found or functions_in(project, syntax, node)


def _of_instances(
    project: Project, syntax: Syntax, value: ast.expr, attribute: str
) -> list[FunctionKey]:
    """Find the method ``attribute`` of what ``value`` may be an instance of."""
    found: dict[FunctionKey, None] = {}
    for place, class_name in classes_of(project, syntax, value):
        found |= dict.fromkeys(with_overrides(project, place, class_name, attribute))
    return list(found)


def _stored_functions(
    project: Project, syntax: Syntax, node: ast.Attribute
) -> list[FunctionKey]:
    """Find the functions that an object holds in an attribute.

    That is ``client.ask`` after ``self.ask = self._ask``, and ``client.messages.create``
    after ``self.messages = SimpleNamespace(create=self._create)``.
    """
    return ask(project, _stored, syntax, node)


def _stored(
    project: Project, syntax: Syntax, node: ast.Attribute
) -> Iterator[FunctionKey]:
    for place, value in held_in(project, syntax, node):
        yield from referred(project, place, value)
    if isinstance(node.value, ast.Attribute):
        for place, value in held_in(project, syntax, node.value):
            if is_namespace(value):
                held = keyword(value, node.attr)
                yield from referred(project, place, held)


def held_in(
    project: Project, syntax: Syntax, node: ast.Attribute
) -> Iterator[tuple[Syntax, ast.expr]]:
    """Yield what methods of the classes of an object assign to one of its attributes."""
    for place, owner in family(project, syntax, node.value):
        for where, value in place.assignments.get(f"self.{node.attr}", ()):
            if where.startswith(f"{owner}."):
                yield place, value


def is_namespace(node: ast.AST | None) -> TypeGuard[ast.Call]:
    """True if a call only puts what it is given together: ``SimpleNamespace(ask=ask)``."""
    return isinstance(node, ast.Call) and last_name(node.func) == "SimpleNamespace"


def referred(
    project: Project,
    syntax: Syntax,
    value: ast.expr | None,
    through: tuple[tuple[Path, str, str], ...] = (),
) -> list[FunctionKey]:
    """Find the function that a value is, or that is given for it; not a constructor.

    Calls give for a parameter, and so does what stands below the function as a decorator.
    ``through``: the parameters that it was given for, one through the other.
    """
    if value is None or project.class_named(syntax, dotted(value) or "") is not None:
        return []
    if isinstance(value, ast.Lambda | ast.Call):
        return meant_by(project, syntax, value)
    if not is_parameter(syntax, value):
        return resolve(project, syntax, value)
    parameter = (syntax.source.path, syntax.owner(value), dotted(value) or "")
    if parameter in through or len(through) >= DEEPEST:
        return []
    found = [
        key
        for place, each in given_for(project, syntax, value)
        for key in referred(project, place, each, (*through, parameter))
    ]
    for function in functions_around(syntax, value):
        found += decorated_with_only(project, function.node.name)
    return found


def classes_of(
    project: Project, syntax: Syntax, value: ast.expr
) -> list[tuple[Syntax, str]]:
    """Find the project's classes that a value may be an instance of.

    They follow from what the value is assigned, from the annotation of a parameter or an
    attribute, and from what a function returns.
    """
    return ask(project, _classes_of, syntax, value)


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
        found = project.class_named(syntax, dotted(value.func) or "")
        if found is not None:
            yield found
        elif (original := copied(value)) is not None:
            yield from classes_of(project, syntax, original)
        else:
            yield from _classes_in(project, syntax, value.func)
            yield from _returned_classes(project, syntax, value.func)
    elif isinstance(value, ast.Name) and value.id == "self":
        yield from owners(project, syntax, value)
    elif dotted(value) is not None:
        for annotation in syntax.annotations_of(value):
            yield from annotated(project, syntax, annotation)
        for assigned in syntax.values_of(value):
            yield from classes_of(project, syntax, assigned)
        for place, given in given_for(project, syntax, value):
            yield from classes_of(project, place, given)
        for call, index in unpacked(syntax, dotted(value) or "", syntax.owner(value)):
            yield from _returned_classes(project, syntax, call.func, index)
        if (variable := _variable_of(project, syntax, value)) is not None:
            place, name = variable
            for where, annotation in place.annotations.get(name, ()):
                if where == MODULE_LEVEL:
                    yield from annotated(project, place, annotation)
            for assigned in place.values_at_top(name):
                yield from classes_of(project, place, assigned)
        if isinstance(value, ast.Attribute):
            for place, owner in owners(project, syntax, value.value):
                yield from _attribute_classes(project, place, owner, value.attr)


def _variable_of(
    project: Project, syntax: Syntax, value: ast.expr
) -> tuple[Syntax, str] | None:
    """Return the file and name of another module's variable: ``registry``, ``tools.registry``."""
    if isinstance(value, ast.Name):
        return project.variable_named(syntax, value.id)
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        module = project.imported(syntax, value.value.id)
        if isinstance(module, Syntax):
            return module, value.attr
    return None


def owners(
    project: Project, syntax: Syntax, value: ast.expr
) -> list[tuple[Syntax, str]]:
    if isinstance(value, ast.Name) and value.id in ("self", "cls"):
        return [(syntax, class_around(syntax, syntax.owner(value)))]
    return classes_of(project, syntax, value)


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
    """Find the classes of an attribute of a class, declared or assigned to ``self``."""
    for place, annotation in declared(project, syntax, class_name, attribute):
        yield from annotated(project, place, annotation)
    for place, name in lineage(project, syntax, class_name):
        for where, value in place.assignments.get(f"self.{attribute}", ()):
            if where.startswith(f"{name}."):
                yield from classes_of(project, place, value)


def _returned_classes(
    project: Project, syntax: Syntax, function: ast.expr, index: int | None = None
) -> list[tuple[Syntax, str]]:
    """Find the classes of what a function of the project returns.

    ``index``: of one element of the tuple that it returns.
    """
    found: list[tuple[Syntax, str]] = []
    for path, qualname in resolve(project, syntax, function):
        place = project.home(path)
        node = place.functions[qualname].node
        annotations = [node.returns] if node.returns is not None else []
        returned = return_values(place, qualname)
        if index is not None:
            annotations = [a for each in annotations for a in element_at(each, index)]
            returned = [v for each in returned for v in element_at(each, index)]
        for annotation in annotations:
            found += annotated(project, place, annotation)
        for value in returned:
            found += classes_of(project, place, value)
    return found


def _classes_in(
    project: Project, syntax: Syntax, function: ast.expr
) -> Iterator[tuple[Syntax, str]]:
    """Find the classes of which one is called.

    Those are in ``{"gpt": GPT, "echo": Echo}[kind]``, in a table that is filled below, or
    what a function returns: ``class_for(kind)()``.
    """
    for each in (function, *syntax.values_of(function)):
        held: list[ast.expr] = []
        if isinstance(each, ast.IfExp | ast.BoolOp):
            held = (
                [each.body, each.orelse] if isinstance(each, ast.IfExp) else each.values
            )
        elif isinstance(each, ast.Call) and (
            functions := resolve(project, syntax, each.func)
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
        found = project.class_named(syntax, dotted(each) or "")
        if found is not None:
            yield found
        elif is_parameter(syntax, each):
            for function in functions_around(syntax, each):
                yield from classes_below(project, function.node.name)


def _named(
    project: Project, syntax: Syntax, name: str, owner: str
) -> list[FunctionKey]:
    parts = [] if owner == MODULE_LEVEL else owner.split(".")
    # A function inside this one, beside it, ..., at module level.
    for depth in range(len(parts), -1, -1):
        around = ".".join(parts[:depth])
        qualname = ".".join([*parts[:depth], name])
        if (
            around in syntax.functions
            and qualname not in syntax.functions
            and syntax.is_local(name, around)
        ):
            return []  # a variable of the same name as a function
        if qualname in syntax.functions and (
            depth == 0 or ".".join(parts[:depth]) in syntax.functions
        ):
            return [(syntax.source.path, qualname)]
        if qualname in syntax.classes:
            return method_of(project, syntax, qualname, "__init__")
    if name in syntax.imports:
        target = project.imported(syntax, name)
        if isinstance(target, tuple):
            return _named(project, target[0], target[1], MODULE_LEVEL)
        place, values = project.variable(syntax, name)
    else:
        place, values = syntax, syntax.values_at_top(name)
    return [key for value in values for key in meant_by(project, place, value)]


def meant_by(project: Project, place: Syntax, value: ast.expr) -> list[FunctionKey]:
    """Find the functions that are run where ``value`` is called, which is another name for one.

    That is ``run_agent``, ``partial(run_agent, client)``, or a lambda that calls it.
    """
    return ask(project, _meant_by, place, value)


def _meant_by(
    project: Project, place: Syntax, value: ast.expr
) -> Iterator[FunctionKey]:
    if isinstance(value, ast.Lambda):
        for inner in ast.walk(value.body):
            if isinstance(inner, ast.Call):
                yield from resolve(project, place, inner.func)
    elif isinstance(value, ast.Call):
        if last_name(value.func) in WRAPPERS and value.args:
            yield from meant_by(project, place, value.args[0])
    elif project.class_named(place, dotted(value) or "") is None:
        yield from resolve(project, place, value)


def _members(
    project: Project, syntax: Syntax, constructor: ast.expr, attribute: str
) -> list[FunctionKey]:
    """Find the method ``attribute`` of the class that ``constructor`` names."""
    found = project.class_named(syntax, dotted(constructor) or "")
    return [] if found is None else method_of(project, *found, attribute)
