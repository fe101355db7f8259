"""Find what becomes of an object: what is set on it, and whether anything else gets it.

An object is lost if it is only counted, printed, asked about and changed: whoever goes on
has another one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from art_adapt.code.definitions import COMPREHENSIONS
from art_adapt.code.nodes import bound_names, last_name
from art_adapt.code.syntax import Syntax
from art_adapt.words import LOGS

# Calls that run or hold what they are given, and give it back.
HOLDING = (
    *("gather", "create_task", "ensure_future", "wait_for", "shield"),
    *("list", "tuple", "sorted", "reversed", "iter", "next", "run", "as_completed"),
)
ARITHMETIC = ("sum", "float", "int", "min", "max", "round", "abs", "mean", "str")
COUNTING = ("len", "isinstance", "type", "id", "hasattr")
LOGGING = (LOGS - {"log"}) | {"error", "exception", "print"}
PAIRING = ("zip", "enumerate")
# What an expression that has the object hands on to the one around it.
WITHIN = (
    *(ast.Await, ast.Starred, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.IfExp),
    *(ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.FormattedValue, ast.JoinedStr),
    *(ast.keyword, ast.Compare, *COMPREHENSIONS),
)


@dataclass
class Followed:
    """What is known of an object while its uses are followed."""

    names: set[tuple[ast.AST, str]] = field(default_factory=set)
    written: list[ast.Attribute] = field(default_factory=list)
    to_other: list[ast.expr] = field(default_factory=list)  # targets of assignments
    goes_on: bool = False
    is_shown: bool = False
    is_read: bool = False  # by a name


@dataclass(frozen=True)
class Use:
    """What becomes of an object: the attributes set on it, and whether it is lost.

    One that is shown is printed or logged, itself or what is read from it.
    """

    written: tuple[ast.Attribute, ...]
    is_lost: bool
    is_shown: bool
    is_read: bool


@dataclass(frozen=True)
class Uses:
    """The uses of the objects of a file, within the function that has them."""

    syntax: Syntax

    def of(self, expression: ast.expr) -> Use:
        """Return what becomes of the object that an expression gives."""
        found = Followed()
        self._follow(expression, found)
        others = (not self._is_own(target, found) for target in found.to_other)
        is_lost = not found.goes_on and not any(others)
        return Use(tuple(found.written), is_lost, found.is_shown, found.is_read)

    def reading(self, binding: ast.AST, target: ast.expr | None) -> Iterator[ast.Name]:
        """Yield where a name is read that an assignment, loop or ``with`` binds."""
        for name in bound_names([] if target is None else [target]):
            yield from self._reading(binding, name)

    def _follow(self, node: ast.expr | ast.AST, found: Followed) -> None:
        """Follow an object, or something computed from it, to the statement that has it."""
        for outer in self.syntax.ancestors(node):
            if isinstance(outer, ast.comprehension):
                if node is outer.iter:
                    self._bind(outer.target, node, found)
                else:
                    found.goes_on = True
                return
            if isinstance(outer, ast.Attribute | ast.Subscript):
                if self._is_read_by(outer, node, found):
                    return
            elif isinstance(outer, ast.Call):
                if not self._is_handed_on(outer, node, found):
                    return
            elif isinstance(outer, ast.NamedExpr):
                self._bind(outer.target, node, found)
            elif isinstance(outer, ast.Compare) and _asks_for_none(outer):
                return
            elif isinstance(outer, ast.stmt):
                self._in_statement(outer, node, found)
                return
            elif not isinstance(outer, WITHIN):
                found.goes_on = True
                return
            node = outer

    def _is_read_by(
        self, outer: ast.Attribute | ast.Subscript, node: ast.AST, found: Followed
    ) -> bool:
        """Return whether an attribute or item is all of it: what is set there stays."""
        if node is not outer.value or isinstance(outer.ctx, ast.Load):
            return False
        if isinstance(outer, ast.Attribute):
            found.written.append(outer)
        return True

    def _is_handed_on(self, call: ast.Call, node: ast.AST, found: Followed) -> bool:
        """Return whether what a call returns may still be the object or a part of it."""
        name = last_name(call.func)
        if node is call.func:
            return name not in LOGGING  # a method of it
        logged = isinstance(node, ast.keyword) and node.arg == "metrics"
        if name in LOGGING or (name == "log" and logged):
            found.is_shown = True
            return False
        if name in COUNTING:
            return False
        if name in PAIRING:
            loop = self.syntax.parents.get(call)
            if isinstance(loop, ast.For | ast.AsyncFor | ast.comprehension):
                self._bind(_part(loop.target, call, node), node, found)
                return False
        if name not in (*HOLDING, *PAIRING, *ARITHMETIC):
            found.goes_on = True
        return not found.goes_on

    def _in_statement(
        self, statement: ast.stmt, node: ast.AST, found: Followed
    ) -> None:
        if isinstance(statement, ast.Expr):
            return
        if isinstance(statement, ast.For | ast.AsyncFor) and node is statement.iter:
            self._bind(statement.target, node, found)
        elif isinstance(statement, ast.Assign) and node is statement.value:
            for target in statement.targets:
                self._bind(target, statement, found)
        elif isinstance(statement, ast.AugAssign | ast.AnnAssign):
            if node is statement.value:
                self._bind(statement.target, statement, found)
        elif not (
            isinstance(statement, ast.If | ast.While | ast.Assert)
            and isinstance(node, ast.Name)
        ):
            found.goes_on = True

    def _bind(self, target: ast.expr | None, at: ast.AST, found: Followed) -> None:
        """Follow the object to where the names that are bound to it are read."""
        if isinstance(target, ast.Attribute | ast.Subscript):
            found.to_other.append(target)
            return
        for name in bound_names([] if target is None else [target]):
            if self.syntax.definitions.is_shared(name):
                found.goes_on = True
            binding = self._binding(at)
            if (binding, name) not in found.names:
                found.names.add((binding, name))
                for use in self._reading(binding, name):
                    found.is_read = True
                    self._follow(use, found)
        if target is None:
            found.goes_on = True

    def _binding(self, node: ast.AST) -> ast.AST:
        """Return the statement or comprehension that a name is bound by."""
        around = (node, *self.syntax.ancestors(node))
        kinds = (ast.stmt, ast.NamedExpr, *COMPREHENSIONS)
        return next(each for each in around if isinstance(each, kinds))

    def _reading(self, binding: ast.AST, name: str) -> Iterator[ast.Name]:
        for use in self._named.get(name, ()):
            reached = (each.node for each in self.syntax.definitions.reaching(use))
            if binding in reached:
                yield use

    @cached_property
    def _named(self) -> dict[str, list[ast.Name]]:
        found: dict[str, list[ast.Name]] = {}
        for node in self.syntax.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found.setdefault(node.id, []).append(node)
        return found

    def _is_own(self, target: ast.expr, found: Followed) -> bool:
        """Return whether what an assignment sets belongs to the object itself."""
        while isinstance(target, ast.Attribute | ast.Subscript):
            target = target.value
        if not isinstance(target, ast.Name):
            return False
        reached = self.syntax.definitions.reaching(target)
        return bool(reached) and all(
            (each.node, target.id) in found.names for each in reached
        )


def _part(target: ast.expr, pairs: ast.Call, node: ast.AST) -> ast.expr | None:
    """Return the part of a loop's target that goes through one argument of ``zip``."""
    if not isinstance(target, ast.Tuple) or node not in pairs.args:
        return None
    at = pairs.args.index(node) + (last_name(pairs.func) == "enumerate")
    return target.elts[at] if at < len(target.elts) else None


def _asks_for_none(compare: ast.Compare) -> bool:
    return isinstance(compare.ops[0], ast.Is | ast.IsNot)
