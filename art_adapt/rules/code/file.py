"""Index one file of ART code: its calls, and what its names mean."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from art_adapt.source import Source
from art_adapt.survey.hooks import imported_hooks, local_names
from art_adapt.survey.nodes import Function, dotted
from art_adapt.survey.syntax import Syntax

DEPTH = 6  # names followed from one expression


@dataclass(frozen=True)
class File:
    """A file's syntax tree with indexes, which are built when they are first used."""

    source: Source

    @cached_property
    def syntax(self) -> Syntax:
        return Syntax.of(self.source)

    @cached_property
    def calls(self) -> tuple[ast.Call, ...]:
        return tuple(node for node in self.syntax.nodes if isinstance(node, ast.Call))

    def method_calls(self, *names: str) -> Iterator[ast.Call]:
        """Yield the calls of a method with one of these names, on any object."""
        for name in names:
            yield from self._methods.get(name, ())

    @cached_property
    def _methods(self) -> dict[str, list[ast.Call]]:
        found: dict[str, list[ast.Call]] = {}
        for call in self.calls:
            if isinstance(call.func, ast.Attribute):
                found.setdefault(call.func.attr, []).append(call)
        return found

    def art_name(self, expression: ast.expr) -> str | None:
        """Return ``art.local.LocalBackend`` for an expression that certainly means it.

        A file that also defines the name, for when the import fails, may mean either.
        """
        head = (dotted(expression) or "").partition(".")[0]
        if head in self.syntax.classes or head in self.syntax.functions:
            return None
        name = self.syntax.qualified(expression)
        return name if name is not None and name.split(".")[0] == "art" else None

    def art_calls(self, *names: str) -> Iterator[ast.Call]:
        """Yield the calls of ART's functions and classes with these last names."""
        yield from (call for name, call in self._art_calls if name in names)

    @cached_property
    def _art_calls(self) -> tuple[tuple[str, ast.Call], ...]:
        """All calls of ART, by the last name of what is called."""
        named = [(self.art_name(call.func), call) for call in self.calls]
        return tuple((name.rpartition(".")[2], call) for name, call in named if name)

    @property
    def is_adapted(self) -> bool:
        """Whether the file imports the recorder's hooks."""
        return bool(self._hooks)

    def hooks(self, name: str) -> frozenset[str]:
        """Return the local names of one of the recorder's hooks."""
        return local_names(self._hooks, name)

    @cached_property
    def _hooks(self) -> dict[str, str]:
        return imported_hooks(self.syntax)

    def constant(self, expression: ast.expr | None, depth: int = DEPTH) -> object:
        """Return the constant that an expression is or names, else ``...``."""
        if expression is None or not depth:
            return ...
        if isinstance(expression, ast.UnaryOp) and isinstance(expression.op, ast.USub):
            value = self.constant(expression.operand, depth - 1)
            return -value if isinstance(value, int | float) else ...
        if isinstance(expression, ast.Constant):
            return expression.value
        if isinstance(expression, ast.Name):
            values = self.syntax.values_of(expression)
            if len(values) == 1 and not isinstance(values[0], ast.Name):
                return self.constant(values[0], depth - 1)
        return ...

    def function_of(self, node: ast.AST) -> Function | None:
        """Return the innermost function around ``node``."""
        return self.syntax.functions.get(self.syntax.owner(node))

    def is_async(self, node: ast.AST) -> bool:
        """Return whether the innermost function around ``node`` is an ``async def``."""
        function = self.function_of(node)
        return function is not None and isinstance(function.node, ast.AsyncFunctionDef)


def dict_item(expression: ast.expr, key: str) -> ast.expr | None:
    """Return the value of a key in a dict display, None if it is not written there."""
    if isinstance(expression, ast.Dict):
        for name, value in zip(expression.keys, expression.values, strict=True):
            if isinstance(name, ast.Constant) and name.value == key:
                return value
    return None
