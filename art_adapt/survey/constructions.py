"""Finds how a project makes the objects that an episode needs.

A ``main()``, a test or a factory already calls the entry point, or its class, with real
objects. What such a call passes is taken over with the statements before it that it
depends on, as long as nothing in them belongs to one run only.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from art_adapt.survey.call_graph import CallGraph, FunctionKey
from art_adapt.survey.model import Construction, EntryPoint, Parameter
from art_adapt.survey.project import Project
from art_adapt.survey.syntax import MODULE_LEVEL, Syntax, dotted, keyword

MOST_STATEMENTS = 8
# What a person or a command line gives is no part of an object.
PERSONAL = ("input", "sys.argv", "parser.parse_args", "args")


def with_constructions(
    project: Project, graph: CallGraph, entry: EntryPoint
) -> EntryPoint:
    """Say of each object that ``entry`` needs how the project makes it, where it does."""
    syntax = project.files[entry.place.path]
    if any(map(_is_needed, entry.constructor)):
        sites = list(_constructed(project, syntax, entry.class_name))
        made = _made(project, syntax, entry.constructor, sites)
        entry = replace(entry, constructor=made)
    if any(map(_is_needed, entry.parameters)):
        sites = list(_called(project, graph, (entry.place.path, entry.name)))
        made = _made(project, syntax, entry.parameters, sites)
        entry = replace(entry, parameters=made)
    return entry


def _is_needed(parameter: Parameter) -> bool:
    return parameter.is_object and parameter.default is None


_Site = tuple[Syntax, ast.Call]


def _called(project: Project, graph: CallGraph, key: FunctionKey) -> Iterator[_Site]:
    for (caller, callee), nodes in graph.sites.items():
        if callee == key and caller != key:
            syntax = project.files[caller[0]]
            for node in nodes:
                call = syntax.parents.get(node)
                if isinstance(call, ast.Call) and call.func is node:
                    yield syntax, call


def _constructed(
    project: Project, syntax: Syntax, class_name: str | None
) -> Iterator[_Site]:
    if class_name is None:
        return
    for place in project.files.values():
        for node in place.nodes:
            if isinstance(node, ast.Call) and (
                project.class_named(place, dotted(node.func) or "")
                == (syntax, class_name)
            ):
                yield place, node


def _made(
    project: Project,
    syntax: Syntax,
    parameters: tuple[Parameter, ...],
    sites: list[_Site],
) -> tuple[Parameter, ...]:
    found = []
    for index, parameter in enumerate(parameters):
        made = None
        if _is_needed(parameter):
            # The agent's own file first: nothing else has to be imported for it.
            for place, call in sorted(sites, key=lambda site: site[0] is not syntax):
                value = keyword(call, parameter.name)
                if value is None and index < len(call.args):
                    value = call.args[index]
                if value is None or isinstance(value, ast.Starred):
                    continue
                made = _construction(project, syntax, place, value)
                if made is not None:
                    break
        found.append(replace(parameter, made=made))
    return tuple(found)


@dataclass
class _Slice:
    """The statements and names that a value depends on."""

    names: dict[tuple[str, str], None] = field(default_factory=dict)
    statements: list[ast.stmt] = field(default_factory=list)


def _construction(
    project: Project, agent: Syntax, place: Syntax, value: ast.expr
) -> Construction | None:
    """Take over ``value`` and what it depends on; None where that is not possible."""
    module = _module_of(project, agent, place)
    taken = _Slice()
    if module is None or not _take(place, module, value, taken):
        return None
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
    path, package = place.source.path, project.package(place)
    if place is not agent and _runs_when_imported(place):
        return None
    if path.parent == agent.source.path.parent:
        return f".{path.stem}" if package else path.stem
    return f"{package}.{path.stem}" if package and path.stem != "__init__" else None


def _runs_when_imported(syntax: Syntax) -> bool:
    """Whether importing the file does more than define things."""
    return any(
        isinstance(node, ast.While | ast.For)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Await))
        for node in syntax.source.tree.body
    )


def _take(place: Syntax, module: str, value: ast.expr, taken: _Slice) -> bool:
    """Take what ``value`` depends on into ``taken``; tell whether all of it could be."""
    bound = {
        node.id
        for node in ast.walk(value)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    } | {a.arg for a in ast.walk(value) if isinstance(a, ast.arg)}
    for node in ast.walk(value):
        if isinstance(node, ast.Await | ast.Yield | ast.YieldFrom):
            return False
        if not isinstance(node, ast.Name) or node.id in bound:
            continue
        if not _take_name(place, module, node, taken):
            return False
    return True


def _take_name(place: Syntax, module: str, node: ast.Name, taken: _Slice) -> bool:
    name, owner = node.id, place.owner(node)
    if name in PERSONAL or name in ("self", "cls"):
        return False
    local = [] if owner == MODULE_LEVEL else _assignments(place, name, owner)
    at_top = _assignments(place, name, MODULE_LEVEL)
    if not local and any(each and place.is_guarded(each) for each in at_top):
        local = at_top
    if local:
        statement = local[0]
        if statement is None or len(local) > 1:
            return False
        if statement in taken.statements:
            return True
        taken.statements.append(statement)
        return len(taken.statements) <= MOST_STATEMENTS and _take(
            place, module, statement.value, taken
        )
    if owner != MODULE_LEVEL and name in place.functions[owner].parameters:
        return False
    if (
        at_top
        or name in place.imports
        or name in place.functions
        or name in place.classes
    ):
        taken.names[module, name] = None
        return True
    return hasattr(builtins, name)


def _assignments(place: Syntax, name: str, owner: str) -> list[ast.Assign | None]:
    """The statements that bind ``name``; None for one that does more than assign it."""
    found: list[ast.Assign | None] = []
    for node in place.owned_by(owner):
        if (
            isinstance(node, ast.Name)
            and node.id == name
            and isinstance(node.ctx, ast.Store)
        ):
            statement = place.parents[node]
            alone = isinstance(statement, ast.Assign) and len(statement.targets) == 1
            found.append(statement if alone else None)  # type: ignore[arg-type]
    return found
