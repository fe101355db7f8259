"""An expression where it is written, and the calls through which it is reached."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from art_adapt.code.nodes import Function
from art_adapt.code.syntax import Syntax


@dataclass(frozen=True)
class Frame:
    """A call that was entered: its arguments are the parameters of the function."""

    call: ast.Call
    function: Function
    outer: Place
    depth: int


@dataclass(frozen=True)
class Place:
    """The file that an expression stands in, and the call through which it was reached."""

    syntax: Syntax
    frame: Frame | None = None


@dataclass(frozen=True)
class Value:
    """An expression as it is written, where it is written."""

    node: ast.expr
    place: Place

    @property
    def syntax(self) -> Syntax:
        return self.place.syntax

    def of(self, node: ast.expr) -> Value:
        """Return a part of this expression as a value."""
        return Value(node, self.place)

    @property
    def outermost(self) -> ast.expr:
        """Return the call through which it is reached, in the function that asks for it."""
        return self.reached[0]

    @property
    def reached(self) -> tuple[ast.expr, ...]:
        """Return the calls through which it is reached, outermost first, and at last itself."""
        found, frame = [self.node], self.place.frame
        while frame is not None:
            found.append(frame.call)
            frame = frame.outer.frame
        return tuple(reversed(found))

    def parting(self, other: Value) -> tuple[ast.expr, ast.expr]:
        """Return the first call through which this one is reached and another is not, and its."""
        both = zip(self.reached, other.reached, strict=False)
        return next(
            (each for each in both if each[0] is not each[1]), (self.node, other.node)
        )


@dataclass(frozen=True)
class Body:
    """The body of a function that a call enters."""

    function: Function
    place: Place

    @property
    def nodes(self) -> Iterator[ast.AST]:
        return self.place.syntax.owned_by(self.function.qualname)

    def yields(self) -> Iterator[Value]:
        """Yield what a generator yields."""
        for node in self.nodes:
            if isinstance(node, ast.Yield) and node.value is not None:
                yield Value(node.value, self.place)

    def returns(self) -> Iterator[Value]:
        """Yield what it returns; nothing for a generator."""
        nodes = list(self.nodes)
        if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in nodes):
            return
        for node in nodes:
            if isinstance(node, ast.Return):
                yield Value(node.value or ast.Constant(None), self.place)


def constant(value: Value) -> object:
    """Return the constant that an expression is, else ``...``."""
    node = value.node
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = constant(value.of(node.operand))
        return -inner if isinstance(inner, int | float) else ...
    return node.value if isinstance(node, ast.Constant) else ...


def is_open(call: ast.Call) -> bool:
    """Return whether a call has arguments that cannot be seen: ``*a`` or ``**b``."""
    return any(isinstance(each, ast.Starred) for each in call.args) or any(
        each.arg is None for each in call.keywords
    )
