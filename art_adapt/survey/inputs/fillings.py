"""Finds the statements that add to an object after it is made.

They call its methods, ``tools.register(f)``, add to it, ``tools += [f]``, decorate a function
with one, or hand it to something that does, ``register_file_tools(tools)``, perhaps within another
object: ``configure(Context(agent))``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from art_adapt.code.command_line import reads_arguments
from art_adapt.code.nodes import Function, FunctionNode, dotted, given_to, last_name
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.survey.side_effects.effects import asks_a_person
from art_adapt.words import FILLS_GIVEN, HOLDS_TOOLS, ONLY_TELLS, TYPED


def fillings(
    place: Syntax,
    name: str,
    used: ast.Name,
    made: ast.stmt,
    left_out: set[ast.stmt],
) -> list[ast.stmt] | None:
    """Return the statements that add to an object after it is made: ``tools.register(f)``.

    What comes after the object is used does not count. Of a loop that uses it, what a pass does
    before counts. None where they cannot be taken over, since they happen only sometimes, or in a
    function inside. ``left_out`` gets those that happen only if somebody types an option.
    """
    owner, user = place.owner(made), place.owner(used)
    if any(changes(node, name) for node in _inside(place, owner, user)):
        return None
    decorated = [each.node for each in decorated_with(place, owner, name)]
    if any(place.parents[each] is not place.parents[made] for each in decorated):
        return None
    is_closures = owner != MODULE_LEVEL and user.startswith(f"{owner}.")
    if not (owner == user or is_closures) and any(
        changes(node, name) for node in place.owned_by(user)
    ):
        return None
    found: dict[ast.stmt, None] = dict.fromkeys(decorated)
    holders = list(holding(place, owner, name))
    # Of a loop over tasks, one pass is an episode: what it does before it uses the object counts.
    blocks = {place.parents[made], *place.enclosing_loops(used)}
    for node in place.owned_by(owner):
        is_one = changes(node, name) or any(fills(node, each) for each in holders)
        if not is_one or not isinstance(node, ast.stmt | ast.expr):
            continue
        ends = (
            node.end_lineno or node.lineno
        )  # a call may begin before what it is given
        if owner == user and ends >= used.lineno:
            continue
        statement = next(
            outer
            for outer in (node, *place.ancestors(node))
            if place.parents.get(outer) in blocks or isinstance(outer, ast.Module)
        )
        if isinstance(statement, ast.If) and _is_a_persons(place, statement.test):
            left_out.add(statement)  # --style: without it, what is made stays as it is
            continue
        if not isinstance(statement, ast.stmt) or not _is_plain(statement):
            return None
        found[statement] = None
    return list(found)


def holding(place: Syntax, owner: str, name: str) -> Iterator[str]:
    """Yield the names of objects that are made with another one: ``ctx = Context(agent=agent)``."""
    for other, written in place.assignments.items():
        calls = [v for at, v in written if at == owner and isinstance(v, ast.Call)]
        if any(name in map(dotted, given_to(call)) for call in calls):
            yield other


def added_to(node: ast.AST) -> ast.Name | None:
    """Return the variable that a statement adds to: ``players += [...]`` fills it."""
    match node:
        case ast.AugAssign(target=ast.Name() as name):
            return name
    return None


def added_before(place: Syntax, used: ast.Name) -> list[ast.stmt] | None:
    """Return the statements of a function that add to a module's object before it is used there.

    None where they cannot be taken over, because they happen only sometimes.
    """
    found: dict[ast.stmt, None] = {}
    for node in place.owned_by(place.owner(used)):
        if not changes(node, used.id) or node.lineno >= used.lineno:
            continue
        around = (node, *place.ancestors(node))
        of_body = (e for e in around if isinstance(place.parents.get(e), FunctionNode))
        statement = next(of_body, None)
        if isinstance(statement, ast.If) and _is_a_persons(place, statement.test):
            continue
        if not isinstance(statement, ast.stmt) or not _is_plain(statement):
            return None
        found[statement] = None
    return list(found)


def _is_plain(statement: ast.stmt) -> bool:
    """True if a statement happens in any case: itself, or a loop of such."""
    return isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign) or (
        isinstance(statement, ast.For)
        and all(isinstance(e, ast.Expr | ast.AugAssign) for e in statement.body)
    )


def _inside(place: Syntax, owner: str, user: str) -> Iterator[ast.AST]:
    """Yield the nodes of the functions inside a function, but for a closure that uses the object.

    What that changes, it changes when it is run: it is taken over itself.
    """
    for qualname in place.functions:
        is_inside = owner != MODULE_LEVEL and qualname.startswith(f"{owner}.")
        if is_inside and qualname != user:
            yield from place.owned_by(qualname)


def decorated_with(place: Syntax, owner: str, name: str) -> Iterator[Function]:
    """Yield the functions in ``owner`` that a method of an object decorates: ``@agent.tool``."""
    around = "" if owner == MODULE_LEVEL else f"{owner}."
    for qualname, function in place.functions.items():
        if qualname != f"{around}{function.node.name}":
            continue
        for decorator in function.node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if (dotted(called) or "").startswith(f"{name}."):
                yield function


def _is_a_persons(place: Syntax, test: ast.expr) -> bool:
    """True if a condition depends on the command line, or on what somebody types."""
    names = [node for node in ast.walk(test) if isinstance(node, ast.Name)]
    values = [test, *(value for name in names for value in place.values_of(name))]
    return any(name.id in TYPED for name in names) or any(
        reads_arguments(place, node) or asks_a_person(place, value)
        for value in values
        for node in ast.walk(value)
    )


def changes(
    node: ast.AST, name: str
) -> TypeGuard[ast.Expr | ast.AugAssign | ast.Subscript | ast.Attribute]:
    """True if a statement calls a method of an object, adds to it, or sets an entry or attribute."""
    if isinstance(node, ast.AugAssign):
        return dotted(node.target) == name
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func
        if fills(node, name):
            return True
        if not isinstance(function, ast.Attribute) or ONLY_TELLS.match(function.attr):
            return False
        return f"{dotted(function.value)}.".startswith(f"{name}.")
    return (
        isinstance(node, ast.Subscript | ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and f"{dotted(node.value)}.".startswith(f"{name}.")
    )


def fills(node: ast.AST, name: str) -> bool:
    """True if a statement hands an object to what fills it: ``register_tools(registry)``."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    call, function = node.value, node.value.func
    if name not in map(dotted, given_to(call)) or ONLY_TELLS.match(last_name(function)):
        return False
    is_filler = isinstance(function, ast.Name) and FILLS_GIVEN.match(function.id)
    return bool(is_filler) or HOLDS_TOOLS.search(name) is not None
