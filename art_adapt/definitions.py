"""Leaves out of a module what runs an agent when the module is imported.

Tutorials and small scripts define an agent and run it below, without a main guard. A
train module needs the definitions only.
"""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Collection, Iterator, Sequence

from art_adapt.words import CHANGES_CONTAINER

MAKES = ("list", "dict", "set", "defaultdict", "collections.defaultdict")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def definitions_of(tree: ast.Module, calls: Collection[str]) -> list[ast.stmt] | None:
    """Return a module's statements without those that make one of ``calls``.

    Left out as well is what only works on their results: the ``print(answer)`` after
    ``answer = run("...")``, and the file that is written after ``results[name] = run(name)``.
    Statements under a main guard stay: no import runs them.

    Args:
        tree: the module; it stays as it is.
        calls: what is called, as the source says it: ``run``, ``agent.run``. What a hook
            is put around, ``recorded(run)(...)``, counts as called by its own name.

    Returns:
        The statements that stay. None if a function or class of the module is among the
        others, or needs what they make: then it cannot be imported without them.
    """
    left_out = {each for each in tree.body if _makes(each, calls)}
    while True:
        kept = [each for each in tree.body if each not in left_out]
        made = {name for each in kept for name in _bound(each)}
        lost = {name for each in left_out for name in _bound(each)} - made
        lost -= set(vars(builtins))
        using = {each for each in kept if not lost.isdisjoint(_read_at_once(each))}
        using |= set(_after_filling(tree.body, left_out, _read_later(kept)))
        if not using:
            break
        left_out |= using
    defines = any(isinstance(each, Definition) for each in left_out)
    return None if defines or _read_later(kept) & lost else kept


def _after_filling(
    body: Sequence[ast.stmt], left_out: Collection[ast.stmt], needed: Collection[str]
) -> Iterator[ast.stmt]:
    """Yield the statements that read a container which one that is left out has filled.

    Not those that bind what functions read later: they have to stay.
    """
    containers = {name for each in body for name in _containers(each)}
    filled: set[str] = set()
    for statement in body:
        if statement in left_out:
            filled |= containers.intersection(_fills(statement))
        elif isinstance(statement, Definition):
            continue
        elif not filled.isdisjoint(_read_at_once(statement)):
            if set(needed).isdisjoint(_bound(statement)):
                yield statement
        else:
            filled -= set(_bound(statement))


def _containers(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement gives an empty list or dict, or one with some contents."""
    match statement:
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=value)
            | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
        ):
            made = isinstance(value, ast.Call) and ast.unparse(value.func) in MAKES
            if made or isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp):
                yield name


def _fills(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement puts something into: ``x[key] = ...``, ``x.append(...)``."""
    for node in _run_at_once(statement):
        match node:
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                yield name
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
                if method in CHANGES_CONTAINER:
                    yield name


def called_name(call: ast.Call) -> str:
    """Return what a call calls, as the source says it, without the hook around it."""
    function = call.func
    if isinstance(function, ast.Call) and function.args:
        function = function.args[0]
    return ast.unparse(function)


def _makes(statement: ast.stmt, calls: Collection[str]) -> bool:
    if _is_main_guard(statement):
        return False
    return any(
        isinstance(node, ast.Call) and called_name(node) in calls
        for node in _run_at_once(statement)
    )


def _is_main_guard(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and "__name__" in ast.dump(statement.test)


def _run_at_once(node: ast.AST) -> Iterator[ast.AST]:
    """Walk through what importing runs: not into functions; of classes, all but methods."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            # Its defaults and decorators are evaluated where it is defined.
            if isinstance(child, ast.arguments):
                for default in (*child.defaults, *child.kw_defaults):
                    if default is not None:
                        yield from _run_at_once(default)
            elif child in getattr(node, "decorator_list", ()):
                yield from _run_at_once(child)
            continue
        yield from _run_at_once(child)


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement gives to the module."""
    if _is_main_guard(statement):
        return
    if isinstance(statement, ast.ClassDef):
        yield statement.name
        return
    for node in _run_at_once(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, Definition):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]


def _read_at_once(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement reads while the module is imported."""
    if _is_main_guard(statement):
        return
    for node in _run_at_once(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id


def _read_later(statements: list[ast.stmt]) -> set[str]:
    """Return the names of the module that its functions and classes read."""
    text = ast.unparse(
        ast.Module([each for each in statements if not _is_main_guard(each)], [])
    )
    tables = symtable.symtable(text, "module", "exec").get_children()
    found: set[str] = set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        found |= {
            symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()
        }
    return found
