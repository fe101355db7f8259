"""Resolves names and attributes to the functions and classes of the project."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeGuard, TypeVar

from art_adapt.survey.nodes import argument_of, dotted, keyword, last_name
from art_adapt.survey.project import Project
from art_adapt.survey.syntax import MODULE_LEVEL, Syntax, return_values

FunctionKey = tuple[Path, str]
N = TypeVar("N", bound=ast.expr)
V = TypeVar("V")


DEEPEST = 40  # values that a value is assigned from, one through the other


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
        # Agent(...).run: the class is named in the expression itself.
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call):
            return _members(project, syntax, node.value.func, node.attr)
        return []
    head, _, rest = name.partition(".")
    owner = syntax.owner(node)
    if not rest:
        return _named(project, syntax, head, owner) or _of_instances(
            project, syntax, node, "__call__"
        )
    assert isinstance(node, ast.Attribute)
    if head in ("self", "cls") and "." not in rest:
        found = _with_overrides(project, syntax, _class_of(syntax, owner), rest)
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
    return found or ([] if "." in rest else method_of(project, syntax, head, rest))


def _of_instances(
    project: Project, syntax: Syntax, value: ast.expr, attribute: str
) -> list[FunctionKey]:
    """Find the method ``attribute`` of what ``value`` may be an instance of."""
    found: dict[FunctionKey, None] = {}
    for place, class_name in classes_of(project, syntax, value):
        found |= dict.fromkeys(_with_overrides(project, place, class_name, attribute))
    return list(found)


def _stored_functions(
    project: Project, syntax: Syntax, node: ast.Attribute
) -> list[FunctionKey]:
    """Find the functions that an object holds in an attribute.

    That is ``client.ask`` after ``self.ask = self._ask``, and ``client.messages.create``
    after ``self.messages = SimpleNamespace(create=self._create)``.
    """
    return _once(project, project.stored, node, _stored(project, syntax, node))


def _once(
    project: Project, known: dict[N, list[V]], node: N, looking: Iterator[V]
) -> list[V]:
    """Find out about a node once, and no deeper than DEEPEST; meanwhile it is nothing.

    ``looking`` yields what there is, and may come back to the same node.
    """
    if node not in known:
        if project.looking >= DEEPEST:
            return []
        known[node] = []
        project.looking += 1
        try:
            found = dict.fromkeys(looking)
        finally:
            project.looking -= 1
        known[node] = list(found)
    return known[node]


def _stored(
    project: Project, syntax: Syntax, node: ast.Attribute
) -> Iterator[FunctionKey]:
    for place, value in _held_in(project, syntax, node):
        yield from _referred(project, place, value)
    if isinstance(node.value, ast.Attribute):
        for place, value in _held_in(project, syntax, node.value):
            if is_namespace(value):
                held = keyword(value, node.attr)
                yield from _referred(project, place, held)


def _held_in(
    project: Project, syntax: Syntax, node: ast.Attribute
) -> Iterator[tuple[Syntax, ast.expr]]:
    """What methods of the classes of an object assign to one of its attributes."""
    for place, owner in _owners(project, syntax, node.value):
        for where, value in place.assignments.get(f"self.{node.attr}", ()):
            if where.startswith(f"{owner}."):
                yield place, value


def is_namespace(node: ast.AST | None) -> TypeGuard[ast.Call]:
    """Whether a call only puts what it is given together: ``SimpleNamespace(ask=ask)``."""
    return isinstance(node, ast.Call) and last_name(node.func) == "SimpleNamespace"


def _referred(
    project: Project,
    syntax: Syntax,
    value: ast.expr | None,
    through: tuple[tuple[Path, str, str], ...] = (),
) -> list[FunctionKey]:
    """Find the function that a value is, or that calls give for it; not a constructor.

    ``through``: the parameters that it was given for, one through the other.
    """
    if value is None or project.class_named(syntax, dotted(value) or "") is not None:
        return []
    if not _is_parameter(syntax, value):
        return resolve(project, syntax, value)
    parameter = (syntax.source.path, syntax.owner(value), dotted(value) or "")
    if parameter in through or len(through) >= DEEPEST:
        return []
    given = _given_for(project, syntax, value)
    return [
        key
        for place, each in given
        for key in _referred(project, place, each, (*through, parameter))
    ]


def _is_parameter(syntax: Syntax, value: ast.expr) -> bool:
    function = syntax.functions.get(syntax.owner(value))
    return (
        function is not None
        and isinstance(value, ast.Name)
        and value.id in function.given
    )


def classes_of(
    project: Project, syntax: Syntax, value: ast.expr
) -> list[tuple[Syntax, str]]:
    """Find the project's classes that a value may be an instance of.

    They follow from what the value is assigned, from the annotation of a parameter or an
    attribute, and from what a function returns.
    """
    found = _classes_of(project, syntax, value)
    return _once(project, project.instances, value, found)


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
        else:
            yield from _returned_classes(project, syntax, value.func)
    elif dotted(value) is not None:
        for annotation in syntax.annotations_of(value):
            yield from annotated(project, syntax, annotation)
        for assigned in syntax.values_of(value):
            yield from classes_of(project, syntax, assigned)
        for place, given in _given_for(project, syntax, value):
            yield from classes_of(project, place, given)
        if isinstance(value, ast.Attribute):
            for place, owner in _owners(project, syntax, value.value):
                yield from _attribute_classes(project, place, owner, value.attr)


def _given_for(
    project: Project, syntax: Syntax, value: ast.expr
) -> Iterator[tuple[Syntax, ast.expr]]:
    """What the project's calls of a function give for the parameter ``value``.

    A function counts where no other has its name: a call tells no more of it.
    """
    if not _is_parameter(syntax, value) or not isinstance(value, ast.Name):
        return
    function = syntax.functions[syntax.owner(value)]
    if function.node.name == "__init__":
        owner = function.qualname.rpartition(".")[0]
        family = [(syntax, owner), *project.derived(syntax, owner)]
        calls: Sequence[tuple[Syntax, ast.Call]] = [
            call
            for place, name in family
            if place is syntax or f"{name}.__init__" not in place.functions
            for call in project.constructed(place, name)
        ]
    else:
        calls = project.calls_of_only(function.node.name)
    for place, call in calls:
        given = argument_of(call, value.id, function.positional)
        if given is not None:
            yield place, given


def _owners(
    project: Project, syntax: Syntax, value: ast.expr
) -> list[tuple[Syntax, str]]:
    if isinstance(value, ast.Name) and value.id in ("self", "cls"):
        return [(syntax, _class_of(syntax, syntax.owner(value)))]
    return classes_of(project, syntax, value)


def _attribute_classes(
    project: Project, syntax: Syntax, class_name: str, attribute: str
) -> list[tuple[Syntax, str]]:
    """Find the classes of an attribute of a class, declared or assigned to ``self``."""
    found: list[tuple[Syntax, str]] = []
    for place, name in lineage(project, syntax, class_name):
        definition = place.classes[name]
        for statement in definition.body:
            if (
                isinstance(statement, ast.AnnAssign)
                and dotted(statement.target) == attribute
            ):
                found += annotated(project, place, statement.annotation)
        for where, value in place.assignments.get(f"self.{attribute}", ()):
            if where.startswith(f"{name}."):
                found += classes_of(project, place, value)
        for where, annotation in place.annotations.get(f"self.{attribute}", ()):
            if where.startswith(f"{name}."):
                found += annotated(project, place, annotation)
    return found


def annotated(
    project: Project, syntax: Syntax, annotation: ast.expr
) -> list[tuple[Syntax, str]]:
    """Find the project's classes that an annotation names, in unions and strings too."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return []
    if isinstance(annotation, ast.BinOp):
        both = (annotation.left, annotation.right)
        return [c for part in both for c in annotated(project, syntax, part)]
    if isinstance(annotation, ast.Subscript):
        if (dotted(annotation.value) or "").split(".")[-1] in ("Optional", "Annotated"):
            inner = annotation.slice
            first = inner.elts[0] if isinstance(inner, ast.Tuple) else inner
            return annotated(project, syntax, first)
        return []
    found = project.class_named(syntax, dotted(annotation) or "")
    return [] if found is None else [found]


def _returned_classes(
    project: Project, syntax: Syntax, function: ast.expr
) -> list[tuple[Syntax, str]]:
    """Find the classes of what a function of the project returns."""
    found: list[tuple[Syntax, str]] = []
    for path, qualname in resolve(project, syntax, function):
        place = project.files[path]
        node = place.functions[qualname].node
        if node.returns is not None:
            found += annotated(project, place, node.returns)
        for returned in return_values(place, qualname):
            found += classes_of(project, place, returned)
    return found


def _with_overrides(
    project: Project, syntax: Syntax, class_name: str, attribute: str
) -> list[FunctionKey]:
    """Find a method, and its overrides in the classes derived from ``class_name``."""
    found = dict.fromkeys(method_of(project, syntax, class_name, attribute))
    for place, derived in project.derived(syntax, class_name):
        if f"{derived}.{attribute}" in place.functions:
            found[place.source.path, f"{derived}.{attribute}"] = None
    return list(found)


def lineage(
    project: Project, syntax: Syntax, class_name: str, depth: int = 0
) -> list[tuple[Syntax, str]]:
    """The class and the classes of the project that it is derived from."""
    definition = syntax.classes.get(class_name)
    if definition is None or depth > 5:
        return []
    found = [(syntax, class_name)]
    for base in definition.bases:
        place = project.class_named(syntax, dotted(base) or "")
        if place is not None:
            found += lineage(project, *place, depth + 1)
    return found


def _class_of(syntax: Syntax, owner: str) -> str:
    parts = owner.split(".")
    while parts and ".".join(parts) not in syntax.classes:
        parts.pop()
    return ".".join(parts)


def _named(
    project: Project, syntax: Syntax, name: str, owner: str
) -> list[FunctionKey]:
    parts = [] if owner == MODULE_LEVEL else owner.split(".")
    # A function inside this one, beside it, ..., at module level.
    for depth in range(len(parts), -1, -1):
        qualname = ".".join([*parts[:depth], name])
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
    return []


def _members(
    project: Project, syntax: Syntax, constructor: ast.expr, attribute: str
) -> list[FunctionKey]:
    """Find the method ``attribute`` of the class that ``constructor`` names."""
    found = project.class_named(syntax, dotted(constructor) or "")
    return [] if found is None else method_of(project, *found, attribute)


def method_of(
    project: Project, syntax: Syntax, class_name: str, attribute: str
) -> list[FunctionKey]:
    """Find a method of a class, inherited ones included."""
    for place, name in lineage(project, syntax, class_name):
        if f"{name}.{attribute}" in place.functions:
            return [(place.source.path, f"{name}.{attribute}")]
    return []
