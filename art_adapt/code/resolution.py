"""Resolves names and attributes to the functions of the project that they refer to."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

from art_adapt.code import instances  # which asks this module, too
from art_adapt.code.classes import (
    FunctionKey,
    is_super,
    method_above,
    method_of,
    stored_by,
    with_overrides,
)
from art_adapt.code.given import functions_around, given_for, is_parameter
from art_adapt.code.index import decorated_with_only
from art_adapt.code.nodes import choices, dotted, keyword, last_name
from art_adapt.code.project import Project
from art_adapt.code.questions import DEEPEST, question
from art_adapt.code.syntax import MODULE_LEVEL, Syntax

WRAPPERS = ("partial", "cache", "lru_cache")  # of functools, around a function


def resolve_name(project: Project, syntax: Syntax, node: ast.Name) -> list[FunctionKey]:
    """Find the function that a name refers to; all methods of a class."""
    found = project.class_named(syntax, node.id)
    if found is None:
        return named(project, syntax, node.id, syntax.owner(node))
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
        if alike := choices(node):  # run_graph if args.graph else run
            found = [key for each in alike for key in resolve(project, syntax, each)]
            return list(dict.fromkeys(found))
        if isinstance(node, ast.Call):  # Agent()(task)
            return _of_instances(project, syntax, node, "__call__")
        if not isinstance(node, ast.Attribute):
            return []
        if is_super(node.value):
            around = syntax.class_around(syntax.owner(node))
            return method_above(project, syntax, around, node.attr)
        # Agent(...).run, get_agent(...).run, or Pool().agent.run
        method = _of_instances(project, syntax, node.value, node.attr)
        return method or _stored_functions(project, syntax, node)
    head, _, rest = name.partition(".")
    owner = syntax.owner(node)
    if not rest:
        return (
            named(project, syntax, head, owner)
            or [
                key
                for value in syntax.values_of(node)
                for key in meant_by(project, syntax, value)
            ]
            or _of_instances(project, syntax, node, "__call__")
        )
    assert isinstance(node, ast.Attribute)
    if head in ("self", "cls") and "." not in rest:
        found = with_overrides(project, syntax, syntax.class_around(owner), rest)
        found = found or _stored_functions(project, syntax, node)
        return found or _of_instances(project, syntax, node, "__call__")
    if head in syntax.imports:
        target = project.imported(syntax, head)
        if isinstance(target, Syntax):  # import helper; helper.run(...)
            if "." not in rest:
                return named(project, target, rest, MODULE_LEVEL)
        elif target is not None and "." not in rest:  # Agent.run of an imported Agent
            found = method_of(project, target[0], target[1], rest)
            if found:
                return found
    found = _of_instances(project, syntax, node.value, node.attr)
    found = list(dict.fromkeys([*found, *_stored_functions(project, syntax, node)]))
    from art_adapt.code.values import functions_in  # which asks this module

    found = found or ([] if "." in rest else method_of(project, syntax, head, rest))
    found = found or functions_in(project, syntax, node)
    return found or _of_instances(project, syntax, node, "__call__")


def _of_instances(
    project: Project, syntax: Syntax, value: ast.expr, attribute: str
) -> list[FunctionKey]:
    """Find the method ``attribute`` of what ``value`` may be an instance of."""
    found: dict[FunctionKey, None] = {}
    exact = list(_made_here(project, syntax, value))
    if exact and None not in exact:
        for each in filter(None, exact):  # no override of theirs
            found |= dict.fromkeys(method_of(project, *each, attribute))
        return list(found)
    for place, class_name in instances.classes_of(project, syntax, value):
        found |= dict.fromkeys(with_overrides(project, place, class_name, attribute))
    return list(found)


def _made_here(
    project: Project, syntax: Syntax, value: ast.expr
) -> Iterator[tuple[Syntax, str] | None]:
    """Yield the classes of all that a file makes for a value; None: it is not made here."""
    for each in [value] if isinstance(value, ast.Call) else syntax.values_of(value):
        is_entered = isinstance(syntax.parents.get(each), ast.withitem)
        made = each.func if isinstance(each, ast.Call) and not is_entered else None
        yield project.class_named(syntax, dotted(made) or "")


@question
def _stored_functions(
    project: Project, syntax: Syntax, node: ast.Attribute
) -> Iterator[FunctionKey]:
    """Find the functions that an object holds in an attribute.

    That is ``client.ask`` after ``self.ask = self._ask``, and ``client.messages.create``
    after ``self.messages = SimpleNamespace(create=self._create)``.
    """
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
    for place, owner in instances.family(project, syntax, node.value):
        for value in stored_by(place, owner, node.attr):
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


def named(project: Project, syntax: Syntax, name: str, owner: str) -> list[FunctionKey]:
    """Find the function that a name means in a function, or a class's constructor."""
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
            return named(project, target[0], target[1], MODULE_LEVEL)
        place, values = project.variable(syntax, name)
    else:
        place, values = syntax, syntax.values_at_top(name)
    return [key for value in values for key in meant_by(project, place, value)]


@question
def meant_by(project: Project, place: Syntax, value: ast.expr) -> Iterator[FunctionKey]:
    """Find the functions that are run where ``value`` is called, which is another name for one.

    That is ``run_agent``, ``partial(run_agent, client)``, or a lambda that calls it.
    """
    if isinstance(value, ast.Lambda):
        for inner in ast.walk(value.body):
            if isinstance(inner, ast.Call):
                yield from resolve(project, place, inner.func)
    elif isinstance(value, ast.Call):
        if last_name(value.func) in WRAPPERS and value.args:
            yield from meant_by(project, place, value.args[0])
    elif project.class_named(place, dotted(value) or "") is None:
        yield from resolve(project, place, value)
