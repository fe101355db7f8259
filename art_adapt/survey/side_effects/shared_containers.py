"""Finds lists, dicts and sets that all rollouts of a process share and change."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from art_adapt.code.nodes import (
    argument_of,
    assignment,
    defaults_of,
    dotted,
    keyword,
    last_name,
)
from art_adapt.code.packages import is_own_module, module_file
from art_adapt.code.syntax import LAMBDA, MODULE_LEVEL, Syntax, return_values
from art_adapt.survey.side_effects.entries import changed_container, containers_of_entry
from art_adapt.survey.side_effects.harm import Effect, Harm
from art_adapt.survey.side_effects.once import is_made_once
from art_adapt.words import CHANGES_CONTAINER, MUTABLE

READ_OR_COPIED = frozenset(
    {"load", "loads", "safe_load", "read_json"}
    | {"copy", "deepcopy", "fromkeys", "sorted"}
)


@dataclass(frozen=True)
class Change:
    """An expression that changes a container of a module or a class in place.

    ``owner``: the function that does; ``of_module``: the container is of the same file;
    ``once``: only where it has nothing yet.
    """

    owner: str
    what: str
    of_module: bool
    node: ast.expr
    once: bool


def changed_containers(syntax: Syntax) -> Iterator[tuple[str, Effect]]:
    """Find lists, dicts and sets of a module or a class that a function changes in place."""
    said: set[tuple[str, str]] = set()
    for each in _changes(syntax):
        if not each.once and (each.what, each.owner) not in said:
            said.add((each.what, each.owner))
            who = "a lambda" if each.owner == LAMBDA else each.owner
            told = f"{each.what}, which {who} changes"
            place = syntax.place(each.node)
            own = each.of_module
            yield each.owner, Effect(place, Harm.SHARED, told, of_module=own)
    yield from _changed_defaults(syntax)


def filled_once(syntax: Syntax) -> Iterator[tuple[Change, ast.expr]]:
    """Yield the changes that fill an entry where nothing is yet, with the value."""
    for each in _changes(syntax):
        _, value = assignment(syntax.parents.get(each.node))
        if each.once and value is not None:
            yield each, value


@functools.lru_cache(maxsize=512)
def _changes(syntax: Syntax) -> tuple[Change, ...]:
    found: list[Change] = []
    shared = {
        name: f"the module-level {name}"
        for name, values in syntax.assignments.items()
        if any(where == MODULE_LEVEL and _holds(value) for where, value in values)
        and "." not in name
    } | dict(_of_classes(syntax))
    for node in syntax.nodes:
        owner = syntax.runs_in(node)
        if owner == MODULE_LEVEL or not isinstance(node, ast.expr):
            continue
        for changed, key in _changed_by(syntax, node):
            name, spelled = _shared_name(syntax, owner, changed, shared)
            what = shared.get(spelled) or _imported(syntax, owner, spelled)
            if what is not None and not any(
                where == owner for where, _ in syntax.assignments.get(name, ())
            ):
                once = is_made_once(syntax, node, *_filled(node, name, key))
                found.append(Change(owner, what, spelled in shared, node, once))
    return tuple(found)


def _changed_by(
    syntax: Syntax, node: ast.expr
) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield what an expression changes, with the single entry; what a function adds to for it."""
    name, key = changed_container(node)
    if name is not None:
        yield name, key
    function = (
        syntax.functions.get(dotted(node.func) or "")
        if isinstance(node, ast.Call)
        else None
    )
    if function is not None and isinstance(node, ast.Call):
        for parameter in _changed_parameters(syntax, function.qualname):
            given = argument_of(node, parameter, function.positional)
            if given is not None and (handed := dotted(given)) is not None:
                yield handed, None


def _filled(node: ast.expr, name: str, key: ast.expr | None) -> list[ast.expr]:
    """Return what a change fills: ``SAID[text]``, if only in words, for ``SAID.add(text)``."""
    return [node, *([ast.Subscript(ast.Name(name), key)] if key is not None else [])]


@functools.lru_cache(maxsize=4096)
def _changed_parameters(syntax: Syntax, function: str) -> tuple[str, ...]:
    """Return the parameters of a function that it changes in place, as they were given."""
    given = [
        name
        for name in syntax.functions[function].parameters
        if not any(at == function for at, _ in syntax.assignments.get(name, ()))
    ]
    changed = (
        changed_container(node)[0]
        for node in syntax.owned_by(function)
        if isinstance(node, ast.expr)
    )
    return tuple(dict.fromkeys(name for name in changed if name in given))


def _shared_name(
    syntax: Syntax, owner: str, name: str, shared: Mapping[str, str]
) -> tuple[str, str]:
    """Return the container that a name stands for in a function, there and as its owner says it."""
    if name not in shared:
        entries = containers_of_entry(syntax, owner, name)
        name = next((each for each in entries if each in shared), name)
    if not name.startswith(("self.", "cls.")):
        return name, name
    around = owner.rpartition(".")[0]
    own = f"{around}.{name.partition('.')[2]}"
    if own in shared:
        return name, own
    kept = (
        spelled
        for where, value in syntax.assignments.get(name, ())
        if where.rpartition(".")[0] == around
        for spelled in _may_be(value, around)
    )
    return name, next((each for each in kept if each in shared), own)


def _may_be(value: ast.expr, class_name: str) -> Iterator[str]:
    """Yield the names that a value may be, those of a class as it says them: ``given or self.own``."""
    match value:
        case ast.BoolOp(values=parts):
            yield from (name for part in parts for name in _may_be(part, class_name))
        case ast.IfExp(body=one, orelse=other):
            yield from (*_may_be(one, class_name), *_may_be(other, class_name))
        case ast.Attribute(value=ast.Name("self" | "cls"), attr=attribute):
            yield f"{class_name}.{attribute}"
        case ast.Name() | ast.Attribute():
            yield dotted(value) or ""


def _imported(syntax: Syntax, owner: str, name: str) -> str | None:
    """Return what another module of the project has that a function changes in place.

    A class is none: its methods may be called ``add``, as an ORM's are.
    """
    head, _, rest = name.partition(".")
    imported = syntax.imports.get(head)
    is_class = head[:1].isupper() and not head.isupper()
    if imported is None or is_class or syntax.is_local(head, owner):
        return None
    if imported.module.partition(".")[0] in sys.stdlib_module_names:
        return None
    beside = syntax.source.path.with_name(head)
    if not rest and (imported.attribute is None or module_file(beside) is not None):
        return None  # a module, whose function may be called add()
    return f"the imported {name}" if is_of_project(syntax, head) else None


def _changed_defaults(syntax: Syntax) -> Iterator[tuple[str, Effect]]:
    """Find parameters whose default is one list or dict for all calls, and is changed.

    That is in the function, in what a method of its object keeps, or where it returned it.
    """
    for owner, function in syntax.functions.items():
        held = [each for each in defaults_of(function.node) if _holds(each[1])]
        if not held:
            continue
        changed = _changed_parameters(syntax, owner)
        for name, default in held:
            does = "changes"
            if name not in changed and not _is_changed_where_kept(syntax, owner, name):
                if not _is_changed_once_returned(syntax, owner, name):
                    continue
                does = "returns"
            what = f"the default of {name}, which {owner} {does}"
            place = syntax.place(default)
            yield owner, Effect(place, Harm.SHARED, what, of_module=True)


def _is_changed_once_returned(syntax: Syntax, owner: str, name: str) -> bool:
    """True if a function returns a parameter as it was given, and a caller adds to that."""
    as_given = not any(where == owner for where, _ in syntax.assignments.get(name, ()))
    returned = {dotted(each) for each in return_values(syntax, owner)}
    if not as_given or name not in returned:
        return False
    called = owner.rpartition(".")[2]
    return any(
        isinstance(value, ast.Call)
        and last_name(value.func) == called
        and any(
            isinstance(node, ast.expr) and changed_container(node)[0] == target
            for node in syntax.owned_by(where)
        )
        for target, values in syntax.assignments.items()
        for where, value in values
    ) or any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in CHANGES_CONTAINER
        and isinstance(node.func.value, ast.Call)
        and last_name(node.func.value.func) == called
        for node in syntax.nodes
    )


def _is_changed_where_kept(syntax: Syntax, owner: str, name: str) -> bool:
    """True if an object keeps a parameter as it was given, and a method of it adds to that."""
    around = owner.rpartition(".")[0]
    kept = {
        target
        for target, values in syntax.assignments.items()
        if target.startswith("self.")
        and any(where == owner and dotted(value) == name for where, value in values)
    }
    return bool(kept) and any(
        (
            isinstance(node, ast.AugAssign)
            and dotted(node.target) in kept
            and isinstance(node.value, ast.List | ast.ListComp)
        )
        or (isinstance(node, ast.expr) and changed_container(node)[0] in kept)
        for method in syntax.functions
        if method.startswith(f"{around}.")
        for node in syntax.owned_by(method)
    )


def _of_classes(syntax: Syntax) -> Iterator[tuple[str, str]]:
    """Yield the lists, dicts and sets that all instances of a class have in common.

    A class with a base or a decorator may make one for each instance: pydantic does.
    """
    for class_name, definition in syntax.classes.items():
        if definition.bases or definition.decorator_list:
            continue
        for statement in definition.body:
            targets, value = assignment(statement)
            for target in targets:
                own = f"self.{dotted(target)}"
                if (
                    value is not None
                    and _is_mutable(value)
                    and own not in syntax.assignments
                ):
                    name = f"{class_name}.{dotted(target)}"
                    yield name, f"{name}, which all its instances share"


def _holds(value: ast.expr) -> bool:
    """True if a value can be changed in place: a display, or what is read or copied.

    The default of a context variable is one for all contexts.
    """
    if isinstance(value, ast.Call) and last_name(value.func) == "ContextVar":
        default = keyword(value, "default")
        return default is not None and _holds(default)
    return (
        _is_mutable(value)
        or isinstance(value, ast.ListComp | ast.DictComp | ast.SetComp)
        or (isinstance(value, ast.BinOp) and _holds(value.left))
        or (isinstance(value, ast.Call) and last_name(value.func) in READ_OR_COPIED)
    )


def _is_mutable(value: ast.expr) -> bool:
    return isinstance(value, ast.List | ast.Dict | ast.Set) or (
        isinstance(value, ast.Call) and last_name(value.func) in MUTABLE
    )


def is_of_project(syntax: Syntax, name: str) -> bool:
    """True if a name is a class or function of the file, or imported from the project."""
    imported = syntax.imports.get(name.partition(".")[0])
    if imported is None:
        return name in syntax.classes or name in syntax.functions
    top = imported.module.partition(".")[0]
    return imported.level > 0 or is_own_module(syntax.source.path, top)
