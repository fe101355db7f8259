"""Index one file of ART code: its calls, and what its names mean."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from art_adapt.code.hooks import imported_hooks, local_names
from art_adapt.code.nodes import Function, FunctionNode, dotted, keyword
from art_adapt.code.packages import are_isolated
from art_adapt.code.session import Session
from art_adapt.code.syntax import Syntax
from art_adapt.rules.code.art_names import TRAIN_HELPERS
from art_adapt.rules.code.contents import Contents
from art_adapt.rules.code.flow import Flow
from art_adapt.rules.code.functions import Functions
from art_adapt.rules.code.values import Body, Value
from art_adapt.source import Source


@dataclass(frozen=True)
class File:
    """A file's syntax tree with indexes, which are built when they are first used."""

    source: Source
    session: Session = field(default_factory=Session, kw_only=True, compare=False)

    @cached_property
    def syntax(self) -> Syntax:
        return self.session.syntax(self.source)

    @cached_property
    def calls(self) -> tuple[ast.Call, ...]:
        return tuple(node for node in self.syntax.nodes if isinstance(node, ast.Call))

    def method_calls(self, *names: str) -> Iterator[tuple[ast.Call, ast.expr]]:
        """Yield the calls of a method with one of these names, each with its object."""
        for name in names:
            yield from self._methods.get(name, ())

    @cached_property
    def _methods(self) -> dict[str, list[tuple[ast.Call, ast.expr]]]:
        found: dict[str, list[tuple[ast.Call, ast.expr]]] = {}
        for call in self.calls:
            if isinstance(call.func, ast.Attribute):
                found.setdefault(call.func.attr, []).append((call, call.func.value))
        return found

    def art_name(self, expression: ast.expr) -> str | None:
        """Return ``art.local.LocalBackend`` for an expression that certainly means it.

        A file that also defines the name, for when the import fails, may mean either.
        """
        head = (dotted(expression) or "").partition(".")[0]
        if head in self.syntax.classes or head in self.syntax.functions:
            return None
        if head == "self":
            return self._art_name_of_attribute(expression)
        name = self.syntax.qualified(expression)
        return name if name is not None and name.split(".")[0] == "art" else None

    def _art_name_of_attribute(self, expression: ast.expr) -> str | None:
        """Return the name of what ``self.Trajectory = Trajectory`` keeps."""
        written = self.syntax.assignments.get(dotted(expression) or "", [])
        named = {
            self.art_name(value)
            for _, value in written
            if isinstance(value, ast.Name | ast.Attribute)
            and not (dotted(value) or "").startswith("self.")
        }
        return named.pop() if len(written) == len(named) == 1 else None

    @cached_property
    def recording_calls(self) -> tuple[ast.Call, ...]:
        """Return the calls of ``training.record``, by which a train module runs an episode."""
        return tuple(
            call
            for call, _ in self.method_calls("record")
            if self.syntax.qualified(call.func) == f"{TRAIN_HELPERS}.record"
        )

    def art_calls(self, *names: str) -> Iterator[ast.Call]:
        """Yield the calls of ART's functions and classes with these last names."""
        yield from (call for name, call in self._art_calls if name in names)

    @cached_property
    def _art_calls(self) -> tuple[tuple[str, ast.Call], ...]:
        """Return all calls of ART, by the last name of what is called."""
        named = [(self.art_name(call.func), call) for call in self.calls]
        return tuple((name.rpartition(".")[2], call) for name, call in named if name)

    @property
    def is_adapted(self) -> bool:
        """Return whether the file imports the recorder's hooks."""
        return bool(imported_hooks(self.syntax))

    @property
    def runs_apart(self) -> bool:
        """Return whether it is an adapted agent's, of which each episode has a process of its own."""
        is_agent = self.is_adapted and not any(self.art_calls("Trajectory"))
        return is_agent and are_isolated(self.source.path.parent)

    def hooks(self, name: str) -> frozenset[str]:
        """Return the local names of one of the recorder's hooks."""
        return local_names(self.syntax, name)

    def is_asked_for(self, attribute: ast.expr) -> bool:
        """Return whether an attribute is reached only where ``hasattr(...)`` is true."""
        if not isinstance(attribute, ast.Attribute):
            return False
        wanted = ast.dump(attribute.value), attribute.attr
        inner: ast.AST = attribute
        for outer in self.syntax.ancestors(attribute):
            tests: list[ast.expr] = []
            if isinstance(outer, ast.If | ast.IfExp):
                no = isinstance(outer.test, ast.UnaryOp)
                body = outer.body if isinstance(outer.body, list) else [outer.body]
                if inner is not outer.test and (inner in body) is not no:
                    tests = [outer.test]
            elif isinstance(outer, ast.BoolOp) and isinstance(outer.op, ast.And):
                tests = outer.values[: outer.values.index(inner)]  # type: ignore[arg-type]
            if any(_asks_for(test) == wanted for test in tests):
                return True
            inner = outer
        return False

    @cached_property
    def importers(self) -> tuple[bytes, ...]:
        """Return the texts of the files beside this one that import it by its name."""
        path = self.source.path
        if not path.is_file():
            return ()
        stem = os.fsencode(path.stem)
        return tuple(
            text
            for each, text, imported in self.session.beside(path.parent)
            if stem in imported and each != path
        )

    @cached_property
    def flow(self) -> Flow:
        return Flow(self.syntax, Functions(self.syntax, self.session))

    @cached_property
    def contents(self) -> Contents:
        """Return what the mappings and lists of the file hold."""
        return Contents(self.flow)

    @cached_property
    def aliases(self) -> Flow:
        """Return the flow of objects: a copy is another one."""
        return Flow(self.syntax, self.flow.functions, copies=False)

    @cached_property
    def local(self) -> Flow:
        """Return the flow within functions: what other files give a parameter is not known."""
        return Flow(self.syntax, self.flow.functions, callers=False)

    def values(self, expression: ast.expr | Value) -> tuple[Value, ...]:
        """Return the expressions that this one may stand for; see ``flow``."""
        return self.flow.values(expression)

    def has(self, value: Value) -> bool:
        """Return whether an expression was reached within this file, through no call."""
        return value.syntax is self.syntax and value.place.frame is None

    def constant(self, expression: ast.expr | Value | None) -> object:
        """Return the constant that an expression certainly is, else ``...``."""
        found = self.flow.constants(expression)
        return next(iter(found)) if len(found) == 1 else ...

    def is_tested(self, expression: ast.expr) -> bool:
        """Return whether the function of a name asks whether it is None or empty."""
        name, owner = dotted(expression), self.syntax.owner(expression)
        if name is None:
            return False
        tests = (
            test
            for node in self.syntax.owned_by(owner)
            for test in (
                [node.test]
                if isinstance(node, ast.If | ast.IfExp | ast.Assert | ast.While)
                else node.values[:-1]
                if isinstance(node, ast.BoolOp)
                else [node]
                if isinstance(node, ast.Compare)
                else [node.subject]
                if isinstance(node, ast.Match)
                else ()
            )
        )
        return any(
            isinstance(node, ast.Name | ast.Attribute) and dotted(node) == name
            for test in tests
            for node in ast.walk(test)
        )

    def is_caught(self, node: ast.AST, inside: ast.AST | None = None) -> bool:
        """Return whether something around a node, in its function, lets others go on if it fails.

        A handler does, and a gather that returns exceptions; only those ``inside`` a statement.
        """
        inner = node
        for outer in self.syntax.ancestors(node):
            if isinstance(outer, FunctionNode | ast.Lambda) or outer is inside:
                return False
            if isinstance(outer, ast.Try) and inner in outer.body and outer.handlers:
                return True
            if isinstance(outer, ast.Call):
                given = keyword(outer, "return_exceptions")
                if given is not None and self.constant(given) is not False:
                    return True
            inner = outer
        return False

    def function_of(self, node: ast.AST) -> Function | None:
        """Return the innermost function around ``node``."""
        return self.syntax.functions.get(self.syntax.owner(node))

    def entered(self, call: ast.expr | Value) -> Body | None:
        """Return the body of the project's function that a call enters."""
        return self.flow.functions.enter(self.flow.here(call))

    def may_enter(self, call: ast.expr | Value) -> tuple[Body, ...]:
        """Return the bodies of all functions that a call may enter, as through a table."""
        return self.flow.functions.may_enter(self.flow.here(call))

    def callers(self, node: ast.AST) -> list[ast.Call]:
        """Return the calls in this file of the function around ``node``."""
        function = self.function_of(node)
        if function is None:
            return []
        return self.flow.functions.calls_of(self.syntax, function)

    def reads(self, name: str | None, near: ast.AST) -> list[ast.Name]:
        """Return where the function around a node reads a name."""
        return [
            node
            for node in self.syntax.owned_by(self.syntax.owner(near))
            if isinstance(node, ast.Name)
            and node.id == name
            and isinstance(node.ctx, ast.Load)
        ]

    def is_async(self, node: ast.AST) -> bool:
        """Return whether the innermost function around ``node`` is an ``async def``."""
        function = self.function_of(node)
        return function is not None and isinstance(function.node, ast.AsyncFunctionDef)


def _asks_for(test: ast.expr) -> tuple[str, object] | None:
    """Return the object and the name of ``hasattr(object, name)``, or of ``not hasattr(...)``."""
    match test:
        case (
            ast.Call(func=ast.Name("hasattr"), args=[owner, ast.Constant(value=name)])
            | ast.UnaryOp(
                op=ast.Not(),
                operand=ast.Call(
                    func=ast.Name("hasattr"), args=[owner, ast.Constant(value=name)]
                ),
            )
        ):
            return ast.dump(owner), name
    return None
