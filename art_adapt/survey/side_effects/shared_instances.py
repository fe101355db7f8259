"""Finds objects of a module that one episode changes and the next one finds changed."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from art_adapt.code.classes import FunctionKey
from art_adapt.code.nodes import argument_of, decorator_names, dotted
from art_adapt.code.project import Project
from art_adapt.code.syntax import MODULE_LEVEL, Syntax, return_values
from art_adapt.survey.side_effects.entries import (
    changed_container,
    containers_of_entry,
    outermost,
)
from art_adapt.survey.side_effects.harm import Effect, Harm
from art_adapt.survey.side_effects.once import is_made_once
from art_adapt.words import CACHES, CHANGES_CONTAINER


def changed_instances(syntax: Syntax) -> Iterator[tuple[str, Effect]]:
    """Find where functions change an object that a module or class makes of its own class.

    They store an attribute of it, or name a method that changes it. An object that no
    function of the file uses, or makes another one of, is there for other files: then the
    method is the place.
    """
    instances = dict(_instances(syntax))
    used: set[str] = set()
    said: set[tuple[str, str]] = set()
    for node in syntax.nodes if instances else ():
        owner = syntax.owner(node)
        if not isinstance(node, ast.Attribute):
            continue
        name = dotted(node.value) or ""
        if name.startswith("self."):
            name = f"{owner.rpartition('.')[0]}.{name.removeprefix('self.')}"
        if name not in instances or syntax.is_local(name, owner):
            continue
        used.add(name)
        if syntax.runs_in(node) == MODULE_LEVEL and _is_used_here(syntax, node):
            continue  # no episode does that
        method = f"{instances[name]}.{node.attr}"
        is_store = isinstance(node.ctx, ast.Store) and not is_made_once(
            syntax, node, node
        )
        if (name, owner) not in said and (is_store or changes_itself(syntax, method)):
            said.add((name, owner))
            place = owner if owner != MODULE_LEVEL else method  # in a table, handed on
            yield place, _effect(syntax, node, name, place)
    for node, name in _handed_to_what_changes_it(syntax, instances):
        owner = syntax.owner(node)
        if (name, owner) not in said:
            said.add((name, owner))
            yield owner, _effect(syntax, node, name, owner)
    made = {
        dotted(node.func)
        for node in syntax.nodes
        if isinstance(node, ast.Call) and syntax.owner(node) != MODULE_LEVEL
    }
    for name, class_name in instances.items():
        is_used = name in used or "." in name or class_name in made
        for method in () if is_used else syntax.functions:
            owner, _, called = method.rpartition(".")
            if owner != class_name or called == "__init__":
                continue
            if changes_itself(syntax, method):
                node = syntax.functions[method].node
                yield method, _effect(syntax, node, name, method)


def _handed_to_what_changes_it(
    syntax: Syntax, instances: Mapping[str, str]
) -> Iterator[tuple[ast.Call, str]]:
    """Yield the calls that give an object to a function which changes it: ``note(STATE, text)``."""
    for node in syntax.nodes if instances else ():
        called = dotted(node.func) if isinstance(node, ast.Call) else None
        function = syntax.functions.get(called or "")
        if function is None or not isinstance(node, ast.Call):
            continue
        for parameter in function.given:
            given = argument_of(node, parameter, function.positional)
            name = dotted(given) if given is not None else None
            if (
                name in instances
                and name is not None
                and syntax.owner(node) != MODULE_LEVEL
                and _changes_parameter(syntax, function.qualname, parameter)
            ):
                yield node, name


def _changes_parameter(syntax: Syntax, function: str, name: str) -> bool:
    """True if a function stores an attribute of a parameter, or adds to what is in one."""
    if any(where == function for where, _ in syntax.assignments.get(name, ())):
        return False  # of a copy, maybe
    return any(
        (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and dotted(node.value) == name
        )
        or (
            isinstance(node, ast.expr)
            and (changed_container(node)[0] or "").startswith(f"{name}.")
        )
        for node in syntax.owned_by(function)
    )


def changed_by_itself(
    syntax: Syntax, methods: Iterable[str], name: str
) -> Iterator[Effect]:
    """Find the first of the methods that change the object that all episodes run.

    ``name``: what its module calls it.
    """
    for method in methods:
        if method.rpartition(".")[2] != "__init__" and changes_itself(syntax, method):
            yield _effect(syntax, syntax.functions[method].node, name, method)
            return


def kept_by_caches(
    project: Project, keys: Iterable[FunctionKey]
) -> Iterator[tuple[Path, Effect]]:
    """Find functions that keep what they made, an object that changes: ``@lru_cache``.

    ``keys``: of the functions that make what an agent is given.
    """
    for path, name in keys:
        syntax = project.files.get(path)
        function = syntax.functions.get(name) if syntax is not None else None
        if syntax is None or function is None:
            continue
        if CACHES.isdisjoint(decorator_names(function.node)):
            continue
        for value in return_values(syntax, name):
            made = dotted(value.func) if isinstance(value, ast.Call) else None
            found = project.class_named(syntax, made) if made is not None else None
            if found is None:
                continue
            place, owner = found
            for called, method in place.methods_of(owner):
                if called != "__init__" and changes_itself(place, method.qualname):
                    what = f"what {name}() keeps, which {method.qualname} changes"
                    where = syntax.place(function.node)
                    yield path, Effect(where, Harm.SHARED, what)
                    break


def _is_used_here(syntax: Syntax, node: ast.Attribute) -> bool:
    """True if code stores an attribute or calls a method; else it hands the method on."""
    call = syntax.parents.get(node)
    is_called = isinstance(call, ast.Call) and call.func is node
    return isinstance(node.ctx, ast.Store) or is_called


def _effect(syntax: Syntax, node: ast.expr | ast.stmt, name: str, owner: str) -> Effect:
    what = f"the module-level {name}, which {owner} changes"
    if "." in name:
        what = f"{name}, which all its instances share and {owner} changes"
    return Effect(syntax.place(node), Harm.SHARED, what, of_module=True)


def _instances(syntax: Syntax) -> Iterator[tuple[str, str]]:
    """Yield the names of a module or class that hold an object of a class of the file."""
    for name, values in syntax.assignments.items():
        for where, value in values:
            made = dotted(value.func) if isinstance(value, ast.Call) else None
            if made not in syntax.classes or "." in name or syntax.is_guarded(value):
                continue
            if where == MODULE_LEVEL:
                yield name, made
            elif where in syntax.classes:
                yield f"{where}.{name}", made


def changes_itself(
    syntax: Syntax, method: str, through: frozenset[str] = frozenset()
) -> bool:
    """True if a method changes its object beyond what it keeps to make it once.

    ``through``: the methods of the object that lead to this one.
    """
    owner = method.rpartition(".")[0]
    return any(
        _stores(syntax, node)
        or (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Store | ast.Del)
            and _own(node.value)
            and not is_made_once(syntax, node, node)
        )
        or _changes_an_entry(syntax, method, node)
        or (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and (
                (node.func.attr in CHANGES_CONTAINER and _own(node.func.value))
                or (
                    dotted(node.func.value) == "self"
                    and node.func.attr not in through
                    and f"{owner}.{node.func.attr}" in syntax.functions
                    and changes_itself(
                        syntax,
                        f"{owner}.{node.func.attr}",
                        through | {node.func.attr},
                    )
                )
            )
        )
        for node in syntax.owned_by(method)
    )


def _changes_an_entry(syntax: Syntax, method: str, node: ast.AST) -> bool:
    """True for ``order["status"] = ...`` and ``order.items.append(...)`` of one in ``self.orders``."""
    if isinstance(node, ast.Subscript | ast.Attribute):
        changed = node.value if isinstance(node.ctx, ast.Store | ast.Del) else None
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        changed = node.func.value if node.func.attr in CHANGES_CONTAINER else None
    else:
        return False
    name = (dotted(changed) or "").partition(".")[0] if changed is not None else ""
    written = [
        where for where, _ in syntax.assignments.get(name, ()) if where == method
    ]
    return len(written) < 2 and any(  # a second one may make a copy
        container.startswith("self.")
        for container in containers_of_entry(syntax, method, name)
    )


def _stores(syntax: Syntax, node: ast.AST) -> bool:
    """True if a node stores an attribute of ``self``, and not only where there is none."""
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and dotted(node.value) == "self"
        and not is_made_once(syntax, node, node)
    )


def _own(value: ast.expr) -> bool:
    """True if an expression is an attribute of ``self``, or an entry of one."""
    return (outermost(value) or "").startswith("self.")
