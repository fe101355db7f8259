"""Find the statements that follow a statement, or are inside it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from art_adapt.code.nodes import FunctionNode, statements_after
from art_adapt.code.syntax import Syntax

BRANCHING = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.If, ast.Try, ast.Match),
    *(ast.For, ast.AsyncFor, ast.While),
)
LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)


@dataclass(frozen=True)
class Blocks:
    """The blocks of statements in a file."""

    syntax: Syntax

    def within(self, node: ast.AST, outer: ast.AST) -> bool:
        return any(ancestor is outer for ancestor in self.syntax.ancestors(node))

    def after(self, statement: ast.AST) -> list[ast.stmt]:
        """Return the statements that follow in the same block."""
        return statements_after(statement, self.syntax.parents.get(statement))

    def following(self, node: ast.AST) -> Iterator[ast.stmt]:
        """Yield the statements of the same function that certainly run after ``node``.

        They end where a statement leaves the block, or where a branch ends.
        """
        for outer in (node, *self.syntax.ancestors(node)):
            if isinstance(outer, BRANCHING):
                return
            for statement in self.after(outer):
                if isinstance(statement, LEAVING):
                    return
                yield statement

    def inside(self, outer: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes below ``outer``, except those of functions defined there."""
        for child in ast.iter_child_nodes(outer):
            yield child
            if not isinstance(child, FunctionNode | ast.Lambda | ast.ClassDef):
                yield from self.inside(child)


def below(statements: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    """Yield all nodes of these statements."""
    for statement in statements:
        yield from ast.walk(statement)
