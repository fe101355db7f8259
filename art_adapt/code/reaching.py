"""Find which of a name's definitions reach each statement of a function.

The statements are read in the order in which they run: branches join, a loop's end reaches
its beginning, and what leaves a block does not reach what follows it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from art_adapt.code.nodes import FunctionNode, last_name, raises, takes_the_rest
from art_adapt.code.syntax import LOOPS

# Loops nested deeper are read once: reading each twice takes time exponential in the depth.
DEEP = 6


@dataclass(frozen=True)
class Definition:
    """A statement or parameter that gives a name its value.

    ``value`` is an expression of the file, or one that stands for a part of it
    (``f()[0]`` for ``a`` in ``a, b = f()``); None for what cannot be followed. A
    parameter has the node of its ``ast.arg``.
    """

    node: ast.AST
    value: ast.expr | None


@dataclass(frozen=True)
class Bound:
    """A definition where it is made; ``certain`` unless its expression may be skipped."""

    definition: Definition
    certain: bool = True


# The definitions that a name may have its value from; None where nothing gets.
Reaching = frozenset[Definition] | None


def reaching_by_node(
    body: Sequence[ast.stmt],
    bound: Mapping[ast.AST, Sequence[Bound]],
    at_start: Iterable[Definition],
) -> dict[ast.AST, Reaching]:
    """Return the definitions of one name that reach each statement of ``body``.

    ``bound`` has them by the statement, handler, case or item of a ``with`` that makes
    them. The result has an entry for each of these, and for all statements that may run.
    """
    reader = _Reader(bound)
    reader.block(body, frozenset(at_start))
    return reader.before


def is_left(body: Sequence[ast.stmt]) -> bool:
    """Return whether nothing reaches the end of a block."""
    return _Reader({}).block(body, frozenset()) is None


def goes_on(body: Sequence[ast.stmt]) -> bool:
    """Return whether the loop around a block may go on after it."""
    return not is_left(body) or any(
        isinstance(node, ast.Continue) for each in body for node in ast.walk(each)
    )


@dataclass(frozen=True)
class _Reader:
    bound: Mapping[ast.AST, Sequence[Bound]]
    before: dict[ast.AST, Reaching] = field(default_factory=dict)
    # For each loop around: what reaches its breaks, and its continues.
    loops: list[tuple[list[Reaching], list[Reaching]]] = field(default_factory=list)
    # For each try around: what reaches the places where its body may raise.
    raising: list[list[Reaching]] = field(default_factory=list)

    def block(self, statements: Iterable[ast.stmt], state: Reaching) -> Reaching:
        for statement in statements:
            self._note(statement, state)
            if state is None:
                return None
            state = self._after(statement, state)
            for places in self.raising:
                places.append(state)
        return state

    def _note(self, node: ast.AST, state: Reaching) -> None:
        self.before[node] = _join(self.before.get(node), state)

    def _bind(self, node: ast.AST, state: Reaching) -> Reaching:
        for each in self.bound.get(node, ()):
            made = frozenset([each.definition])
            state = made if each.certain else _join(state, made)
        return state

    def _after(self, statement: ast.stmt, state: Reaching) -> Reaching:
        if isinstance(statement, LOOPS):
            return self._loop(statement, state)
        state = self._bind(statement, state)
        if isinstance(statement, ast.If):
            branches = (statement.body, statement.orelse)
            return _join(*(self.block(branch, state) for branch in branches))
        if isinstance(statement, ast.With | ast.AsyncWith):
            for item in statement.items:
                self._note(item, state)
                state = self._bind(item, state)
            after = self.block(statement.body, state)
            made = (each.context_expr for each in statement.items)
            called = (each.func for each in made if isinstance(each, ast.Call))
            return (
                _join(after, state) if "suppress" in map(last_name, called) else after
            )
        if isinstance(statement, ast.Try | ast.TryStar):
            return self._try(statement, state)
        if isinstance(statement, ast.Match):
            return self._match(statement, state)
        if isinstance(statement, ast.Break | ast.Continue) and self.loops:
            self.loops[-1][isinstance(statement, ast.Continue)].append(state)
        if isinstance(statement, ast.Return | ast.Break | ast.Continue):
            return None
        return None if raises(statement) else state

    def _loop(
        self, loop: ast.For | ast.AsyncFor | ast.While, state: Reaching
    ) -> Reaching:
        breaks: list[Reaching] = []
        for _ in range(2 if len(self.loops) < DEEP else 1):
            self._note(loop, state)
            start = self._bind(loop, state)
            self.loops.append(([], []))
            end = self.block(loop.body, start)
            left, continued = self.loops.pop()
            breaks += left
            if isinstance(loop, ast.While):
                state = start  # the test runs before each round, and before the end
            state = _join(state, end, *continued)
        endless = (
            isinstance(loop, ast.While)
            and isinstance(loop.test, ast.Constant)
            and bool(loop.test.value)
        )
        return _join(None if endless else self.block(loop.orelse, state), *breaks)

    def _try(self, statement: ast.Try | ast.TryStar, state: Reaching) -> Reaching:
        places = [state]
        self.raising.append(places)
        body = self.block(statement.body, state)
        raised = _join(*places)
        ends = [self.block(statement.orelse, body)]
        for handler in statement.handlers:
            self._note(handler, raised)
            ends.append(self.block(handler.body, self._bind(handler, raised)))
        self.raising.pop()
        # A finally also runs while an exception or a return passes through it.
        self.block(statement.finalbody, _join(*places, *ends))
        return self.block(statement.finalbody, _join(*ends))

    def _match(self, statement: ast.Match, state: Reaching) -> Reaching:
        ends = []
        for case in statement.cases:
            self._note(case, state)
            ends.append(self.block(case.body, self._bind(case, state)))
        if not any(map(takes_the_rest, statement.cases)):
            ends.append(state)
        return _join(*ends)


def _join(*states: Reaching) -> Reaching:
    reached = [each for each in states if each is not None]
    return frozenset().union(*reached) if reached else None


def makes(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> tuple[ast.AST, bool]:
    """Return the part of a block that makes the definition ``node``, and whether it must.

    A ``:=`` behind an ``and`` or in one side of a conditional expression may be skipped.
    """
    certain = True
    while not isinstance(
        node, ast.stmt | ast.ExceptHandler | ast.match_case | ast.withitem
    ):
        outer = parents[node]
        if (isinstance(outer, ast.BoolOp) and node is not outer.values[0]) or (
            isinstance(outer, ast.IfExp) and node is not outer.test
        ):
            certain = False
        if isinstance(outer, ast.comprehension | FunctionNode | ast.Lambda):
            certain = False
        node = outer
    return node, certain
