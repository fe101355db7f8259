"""Finds how a project makes the objects that an episode needs.

A ``main()``, a test or a factory already calls the entry point, or its class, with real
objects. What such a call passes is taken over with the statements before it that it
depends on, as long as nothing in them belongs to one run only.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from art_adapt.survey.call_graph import CallGraph
from art_adapt.survey.effects import asks_a_person, reads_arguments
from art_adapt.survey.model import Construction, EntryPoint, Parameter
from art_adapt.survey.nodes import argument_of, arguments_of, dotted
from art_adapt.survey.packages import package_depth
from art_adapt.survey.project import Project
from art_adapt.survey.syntax import MODULE_LEVEL, Syntax

MOST_STATEMENTS = 8
# Methods that only tell people something.
SHOWS = re.compile(
    r"(welcome|greet|print|show|display|log|info|debug|warn|echo|render)"
)
_Assignment = ast.Assign | ast.AnnAssign
# What a person or a command line gives is no part of an object.
PERSONAL = ("input", "args")


def with_constructions(
    project: Project, graph: CallGraph, entry: EntryPoint
) -> EntryPoint:
    """Say of each object that ``entry`` needs how the project makes it, where it does."""
    syntax = project.files[entry.home]
    if any(map(is_unknown, entry.constructor)):
        sites = project.constructed(syntax, entry.class_name)
        made = _made(project, syntax, entry.constructor, sites)
        entry = replace(entry, constructor=made)
    if any(map(is_unknown, entry.parameters)):
        sites = list(graph.calls_of(project, entry.key))
        made = _made(project, syntax, entry.parameters, sites)
        entry = replace(entry, parameters=made)
    return entry


def is_unknown(parameter: Parameter) -> bool:
    """Whether nothing has shown yet how an object is made."""
    needed = parameter.is_object and parameter.default is None
    return needed and parameter.made is None


def _made(
    project: Project,
    syntax: Syntax,
    parameters: tuple[Parameter, ...],
    sites: Sequence[tuple[Syntax, ast.Call]],
) -> tuple[Parameter, ...]:
    found = []
    names = [parameter.name for parameter in parameters]
    for parameter in parameters:
        made, passed = parameter.made, parameter.passed
        if is_unknown(parameter):
            # The agent's own file first: nothing else has to be imported for it.
            for place, call in sorted(sites, key=lambda site: rank(site[0], syntax)):
                value = argument_of(call, parameter.name, names)
                if value is None:
                    continue
                passed = passed or place.place(value)
                made = construction(project, syntax, place, value)
                if made is not None:
                    break
        found.append(replace(parameter, made=made, passed=passed))
    return tuple(found)


def rank(place: Syntax, agent: Syntax) -> int:
    """Order the places that show how an object is made: tests come last."""
    if place is agent:
        return 0
    is_test = any(p.startswith(("test", "conftest")) for p in place.source.path.parts)
    return 2 if is_test else 1


@dataclass
class _Slice:
    """The statements and names that a value depends on."""

    project: Project
    agent: Syntax
    names: dict[tuple[str, str], None] = field(default_factory=dict)
    statements: list[ast.stmt] = field(default_factory=list)


def construction(
    project: Project, agent: Syntax, place: Syntax, value: ast.expr
) -> Construction | None:
    """Take over ``value`` and what it depends on; None where that is not possible.

    ``place`` is the file that the value stands in.
    """
    taken = _Slice(project, agent)
    if not _take(place, _module_of(project, agent, place), value, taken):
        return None
    if any("Mock" in name for _, name in taken.names):
        return None  # a test's
    taken.statements.sort(key=lambda statement: statement.lineno)
    first = taken.statements[0] if taken.statements else value
    return Construction(
        place.place(first),
        tuple(taken.names),
        tuple(_text(place, statement) for statement in taken.statements),
        _text(place, value),
    )


def _text(place: Syntax, node: ast.stmt | ast.expr) -> str:
    """The source of a node as its author laid it out, moved to the first column."""
    text = ast.get_source_segment(place.source.text, node) or ""
    several = any(
        isinstance(inner, ast.Constant | ast.JoinedStr)
        and (inner.end_lineno or 0) > inner.lineno
        for inner in ast.walk(node)
    )
    if not text or several or place.source.text.count("\t"):
        return ast.unparse(node)
    first, *rest = text.splitlines()
    indent = len(first) and node.col_offset if isinstance(node, ast.stmt) else 0
    return "\n".join([first, *(line[min(indent, _indent(line)) :] for line in rest)])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _module_of(project: Project, agent: Syntax, place: Syntax) -> str | None:
    """How a train module beside the agent imports the file; None if it must not be."""
    if place is not agent and _runs_when_imported(place):
        return None
    return module_at(project, agent, place.source.path)


def module_at(project: Project, agent: Syntax, path: Path) -> str | None:
    """How a train module beside the agent imports the file at ``path``."""
    package, folder = project.package(agent), agent.source.path.parent
    root = folder.parents[package_depth(package) - 1] if package else folder
    if path.stem == "__init__" and path.parent == folder:
        return None  # it would be run once more, as another module
    if path.parent == folder:
        return f".{path.stem}" if package else path.stem
    if path.is_relative_to(root):
        parts = path.relative_to(root).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        return ".".join(parts) if all(map(str.isidentifier, parts)) else None
    return None


def _runs_when_imported(syntax: Syntax) -> bool:
    """Whether importing the file does more than define things."""
    return any(
        isinstance(node, ast.While | ast.For)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Await))
        for node in syntax.source.tree.body
    )


def _take(place: Syntax, module: str | None, value: ast.expr, taken: _Slice) -> bool:
    """Take what ``value`` depends on into ``taken``; tell whether all of it could be."""
    bound = {
        node.id
        for node in ast.walk(value)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    } | {a.arg for a in ast.walk(value) if isinstance(a, ast.arg)}
    for node in ast.walk(value):
        if isinstance(node, ast.Await | ast.Yield | ast.YieldFrom):
            return False
        if isinstance(node, ast.NamedExpr) or reads_arguments(place, node):
            return False
        if isinstance(node, ast.Call) and asks_a_person(place, node):
            return False
        if not isinstance(node, ast.Name) or node.id in bound:
            continue
        if not _take_name(place, module, node, taken):
            return False
    return True


def _take_name(
    place: Syntax, module: str | None, node: ast.Name, taken: _Slice
) -> bool:
    name, owner = node.id, place.owner(node)
    if name in PERSONAL or name in ("self", "cls"):
        return False
    local = [] if owner == MODULE_LEVEL else _assignments(place, name, owner)
    at_top = _assignments(place, name, MODULE_LEVEL)
    if not local and (
        module is None or any(each and place.is_guarded(each) for each in at_top)
    ):
        local = at_top
    is_parameter = owner != MODULE_LEVEL and name in place.functions[owner].parameters
    if _is_lambdas(place, node):
        return False
    if local:
        statement = local[0]
        if statement is None or len(local) > 1 or is_parameter:
            return False
        if _is_changed(place, name, owner, before=node.lineno):
            return False  # what is added to it would be lost
        if statement in taken.statements:
            return True
        taken.statements.append(statement)
        return len(taken.statements) <= MOST_STATEMENTS and _take(
            place, module, _value_of(statement), taken
        )
    if is_parameter:
        return False
    if name in place.imports and (origin := _origin(place, name, taken)) is not None:
        taken.names[origin] = None
        return True
    if (
        at_top
        or name in place.imports
        or name in place.functions
        or name in place.classes
    ):
        if module is not None:
            taken.names[module, name] = None
        return module is not None
    return hasattr(builtins, name)


def _origin(place: Syntax, name: str, taken: _Slice) -> tuple[str, str] | None:
    """Where the train module imports ``name`` from, which the file imports."""
    imported, attribute = place.imports[name], place.imports[name].attribute
    defined = taken.project.imported(place, name)
    path = taken.project.located(place, name)
    if isinstance(defined, tuple):  # what a package re-exports comes from its own file
        path, attribute = defined[0].source.path, defined[1]
    if path is not None:  # a file of the project
        if not isinstance(defined, tuple) and attribute in (None, path.stem):
            package = taken.project.package(taken.agent)
            return _module_beside(taken.agent, package, path, name)
        module = module_at(taken.project, taken.agent, path)
    else:
        module = None if imported.level else imported.module
    if module is None:
        return None
    if attribute is None:
        renamed = name != imported.module.split(".")[0]
        return (f"{module} as {name}" if renamed else module), ""
    return module, name if attribute == name else f"{attribute} as {name}"


def _module_beside(
    agent: Syntax, package: str, path: Path, name: str
) -> tuple[str, str] | None:
    """How the train module imports a module of the agent's own folder, as ``name``."""
    if path.parent != agent.source.path.parent or path.stem == "__init__":
        return None
    if not package:
        return (path.stem if name == path.stem else f"{path.stem} as {name}"), ""
    return ".", name if name == path.stem else f"{path.stem} as {name}"


def _value_of(statement: _Assignment) -> ast.expr:
    assert statement.value is not None
    return statement.value


def _is_lambdas(place: Syntax, node: ast.Name) -> bool:
    """Whether a name is a parameter of a lambda around it."""
    return any(
        isinstance(outer, ast.Lambda)
        and node.id in {argument.arg for argument in arguments_of(outer)}
        for outer in place.ancestors(node)
    )


def _is_changed(
    place: Syntax, name: str, owner: str, before: int | None = None
) -> bool:
    """Whether a function adds to an object after it has made it: tools.register(f).

    ``before``: the line that uses the object; what comes later does not count.
    """
    for node in place.owned_by(owner):
        if before is not None and getattr(node, "lineno", 0) > before:
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            holder = isinstance(function, ast.Attribute) and dotted(function.value)
            shows = isinstance(function, ast.Attribute) and SHOWS.match(function.attr)
            if f"{holder}.".startswith(f"{name}.") and not shows:
                return True
        elif (
            isinstance(node, ast.Subscript | ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and dotted(node.value) == name
        ):
            return True
    return False


def _assignments(place: Syntax, name: str, owner: str) -> list[_Assignment | None]:
    """The statements that bind ``name``; None for one that does more than assign it."""
    found: list[_Assignment | None] = []
    for node in place.owned_by(owner):
        if (
            isinstance(node, ast.Name)
            and node.id == name
            and isinstance(node.ctx, ast.Store)
        ):
            statement = place.parents[node]
            if (
                isinstance(statement, ast.AnnAssign) and statement.value is not None
            ) or (isinstance(statement, ast.Assign) and len(statement.targets) == 1):
                found.append(statement)
            else:
                found.append(None)
    return found
