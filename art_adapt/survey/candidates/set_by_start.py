"""Tells which functions read a variable that only what starts them sets."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.classes import FunctionKey
from art_adapt.code.nodes import FunctionNode
from art_adapt.code.project import Project
from art_adapt.code.syntax import MODULE_LEVEL, Syntax


def starts_that_set(
    project: Project, graph: CallGraph, key: FunctionKey
) -> set[FunctionKey]:
    """Return what starts a function and sets a variable of a module that it reads, or what it runs.

    ``global client; client = OpenAI()`` in the ``main()`` that runs it sets one, and so does
    ``chat = Chat()`` under ``if __name__ == "__main__":``. Run by itself, it would fail.
    """
    run = graph.run_by([key])
    setters = {
        (path, setter)
        for path, name in run
        if (late := _set_late(project.files[path]))
        for read in _needed(project.files[path], name)
        if read in late and not {(path, each) for each in late[read]} & run
        for setter in late[read]
    }
    return {each for each in setters if key in graph.run_by([each])}


def _needed(syntax: Syntax, name: str) -> Iterator[str]:
    """Yield the variables of its module that a function uses as more than None.

    One that it tests first may be unset.
    """
    own, tested = _bound_around(syntax, name), _tested_in(syntax, name)
    for node in syntax.owned_by(name):
        if (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Load)
            and node.id not in own
            and (node.id not in tested or _is_missing(syntax, node.id))
        ):
            yield node.id


def _bound_around(syntax: Syntax, name: str) -> set[str]:
    """Return the names that a function binds itself, or one around it.

    Those of lambdas, comprehensions and handlers count: they hide the module's.
    """
    found: set[str] = set()
    for each in (name, *syntax.functions_around(name)):
        function = syntax.functions.get(each)
        for node in ast.walk(function.node) if function is not None else ():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
            elif isinstance(node, ast.arg):
                found.add(node.arg)
            elif isinstance(node, ast.ExceptHandler) and node.name is not None:
                found.add(node.name)
            elif isinstance(node, ast.alias):
                found.add((node.asname or node.name).partition(".")[0])
            elif isinstance(node, FunctionNode | ast.ClassDef):
                found.add(node.name)
    return found


def _tested_in(syntax: Syntax, name: str) -> set[str]:
    """Return the names that a function asks about, or hands on as they are: ``log or print``."""
    handed_on = {
        node.id
        for node in syntax.owned_by(name)
        if isinstance(node, ast.Name) and not _is_used_as_object(syntax, node)
    }
    return handed_on | {
        node.id
        for test in syntax.owned_by(name)
        if isinstance(test, ast.If | ast.IfExp | ast.While | ast.Assert)
        for node in ast.walk(test.test)
        if isinstance(node, ast.Name)
    }


def _is_used_as_object(syntax: Syntax, node: ast.Name) -> bool:
    """True if a name stands for what is called, or of what a part is taken."""
    match syntax.parents[node]:
        case (
            ast.Attribute(value=used) | ast.Subscript(value=used) | ast.Call(func=used)
        ):
            return used is node
    return False


def _is_missing(syntax: Syntax, name: str) -> bool:
    """True if a module gives a variable no value at all where it is imported."""
    return all(
        syntax.is_guarded(value) or syntax.owner(value) != MODULE_LEVEL
        for _, value in syntax.assignments.get(name, ())
    )


@functools.lru_cache(maxsize=512)
def _set_late(syntax: Syntax) -> Mapping[str, frozenset[str]]:
    """Return the variables that importing a file leaves unset or None, with what sets them.

    That is a function, or the module where it is run as a program.
    """
    found: dict[str, frozenset[str]] = {}
    for name, values in syntax.assignments.items():
        top = [value for where, value in values if where == MODULE_LEVEL]
        setters = {
            syntax.owner(value): syntax.is_guarded(value)
            for value in top
            if not (isinstance(value, ast.Constant) and value.value is None)
        }
        known = name in syntax.imports or name in syntax.functions
        if "." in name or known or not setters:
            continue
        if all(where != MODULE_LEVEL or guarded for where, guarded in setters.items()):
            found[name] = frozenset(setters)
    return found
