"""Lists the names that a file uses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from art_adapt.code.syntax import Syntax

# What binds or reads a name that stands in a string.
BY_STRING = frozenset(
    ["exec", "eval", "globals", "locals", "vars", "setattr", "getattr"]
)


def used_names(syntax: Syntax) -> frozenset[str]:
    """Return every identifier that the file binds or reads as a name."""
    found: set[str] = set(syntax.imports)
    for node in syntax.nodes:
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            found.update(node.names)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.add(node.rest)
        elif isinstance(name := getattr(node, "name", None), str):
            found.add(name)  # functions, classes, handlers, patterns, type parameters
    return frozenset(found)


def possible_names(syntax: Syntax) -> frozenset[str]:
    """Return what the file uses as a name, and what it may bind by a string.

    A name that begins with ``*`` stands for names that nobody can know: those of
    ``import *``, and of code that ``exec`` runs in the module.
    """
    used = used_names(syntax)
    words = () if BY_STRING.isdisjoint(used) else _words(syntax.nodes)
    return frozenset({*used, *words, *_unknown(syntax.nodes)})


def _words(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"\w+", node.value)


def _unknown(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield ``*exec`` if the file runs code from elsewhere in its own namespace."""
    for node in nodes:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "exec"
            and len(node.args) == 1
            and not isinstance(node.args[0], ast.Constant)
        ):
            yield "*exec"
