"""Find the statements that follow a statement, or are inside it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from art_adapt.code.nodes import FunctionNode, block_of, statements_after
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

    def around(self, node: ast.AST) -> list[ast.stmt]:
        """Return the block that the statement of a node stands in."""
        statement = self.statement(node)
        return block_of(statement, self.syntax.parents.get(statement))

    def statement(self, node: ast.AST) -> ast.AST:
        """Return the statement that a node stands in, or the node itself if it is in none."""
        above = (node, *self.syntax.ancestors(node))
        return next((each for each in above if isinstance(each, ast.stmt)), node)

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

    def exclude(self, one: ast.AST, other: ast.AST) -> bool:
        """Return whether at most one of two nodes can run.

        They are in different branches of a statement, or the first is in one that leaves.
        """
        branches = self._branches(other)
        for outer, branch in self._branches(one).items():
            if outer not in branches:
                if isinstance(branch[-1], LEAVING):
                    return True
            elif branches[outer] is not branch:
                return True
        return False

    def _branches(self, node: ast.AST) -> dict[ast.AST, list[ast.stmt]]:
        """Map each branching statement around a node to the branch that contains it."""
        found: dict[ast.AST, list[ast.stmt]] = {}
        for outer in self.syntax.ancestors(node):
            parent = self.syntax.parents.get(outer)
            if isinstance(parent, ast.match_case | ast.ExceptHandler):
                found[self.syntax.parents[parent]] = parent.body
            elif isinstance(parent, ast.If | ast.Try):
                for block in (parent.body, parent.orelse):
                    if outer in block:
                        found[parent] = block
        return found

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
