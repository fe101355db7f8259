"""Find what runs a function again after an error: decorators, helpers and loops."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from art_adapt.code.nodes import Function, dotted, last_name
from art_adapt.code.reaching import goes_on
from art_adapt.code.syntax import LOOPS
from art_adapt.rules.code.file import File
from art_adapt.words import RETRIES


@dataclass(frozen=True)
class Retries:
    """The retries of a file."""

    file: File

    def of(self, function: Function) -> Iterator[ast.expr]:
        """Yield what retries a function: its decorators, and what is called with it."""
        for each in function.node.decorator_list:
            if self.is_one(each):
                yield each
        for call in self.file.calls:
            for given in call.args:
                named = self.file.flow.functions.in_file(self.file.syntax, given)
                if named == function and self.is_one(call.func):
                    yield call.func

    def is_one(self, called: ast.expr) -> bool:
        """Return whether a decorator or helper tries what it is given again.

        By its name, or because it does so in this file.
        """
        called = called.func if isinstance(called, ast.Call) else called
        if RETRIES.search(last_name(called)):
            return True
        function = self.file.flow.functions.in_file(self.file.syntax, called)
        if function is None or not function.given:
            return False
        name = function.qualname
        inside = [
            *self.file.syntax.owned_by(name),
            *(
                node
                for each in self.file.syntax.functions
                if each.startswith(f"{name}.")
                for node in self.file.syntax.owned_by(each)
            ),
        ]
        own = {function.given[0]}
        own |= {a for n in self._inner(name) for a in n.given[:1]}
        return any(
            isinstance(node, LOOPS) and tries_again(node, lambda n: _calls(n, own))
            for node in inside
        )

    def _inner(self, name: str) -> Iterator[Function]:
        """Yield the functions that are defined in a function."""
        for qualname, function in self.file.syntax.functions.items():
            if qualname.startswith(f"{name}."):
                yield function


def _calls(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func) in names


def tries_again(loop: ast.AST, runs: Callable[[ast.AST], bool]) -> bool:
    """Return whether a loop runs something until it succeeds, and goes on after an error."""
    return any(
        isinstance(node, ast.Try)
        and any(map(runs, ast.walk(ast.Module(node.body, []))))
        and any(isinstance(last, ast.Break | ast.Return) for last in node.body[-1:])
        and any(goes_on(handler.body) for handler in node.handlers)
        for node in ast.walk(loop)
    )
