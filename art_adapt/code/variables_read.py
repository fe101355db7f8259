"""Finds the environment variables that code reads, and those that it raises without."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from art_adapt.code.nodes import last_name
from art_adapt.code.syntax import Syntax

READS = ("get", "pop", "setdefault")


def variables_read(syntax: Syntax, nodes: Collection[ast.AST]) -> Iterator[str]:
    """Yield the variables that some nodes of a file read: ``os.getenv("X")``, ``environ["X"]``."""
    for node in nodes:
        match node:
            case ast.Call(
                func=ast.Attribute(value=holder, attr=method),
                args=[ast.Constant(str(name)), *_],
            ) if method in READS and _is_environment(syntax, holder):
                yield name
            case ast.Call(func=called, args=[ast.Constant(str(name)), *_]) if (
                last_name(called) == "getenv" or syntax.qualified(called) == "os.getenv"
            ):
                yield name
    yield from variables_required(syntax, nodes)


def variables_required(syntax: Syntax, nodes: Collection[ast.AST]) -> Iterator[str]:
    """Yield the variables without which some nodes of a file raise: ``os.environ["X"]``."""
    for node in nodes:
        match node:
            case ast.Subscript(
                value=holder, slice=ast.Constant(str(name)), ctx=ast.Load()
            ) if _is_environment(syntax, holder):
                yield name


def _is_environment(syntax: Syntax, holder: ast.expr) -> bool:
    return last_name(holder) == "environ" or syntax.qualified(holder) == "os.environ"
