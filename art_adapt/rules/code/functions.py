"""Find the function of the project that a call enters, and the calls of a function."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from art_adapt.code.classes import FunctionKey
from art_adapt.code.containers import container_of
from art_adapt.code.given import function_given, given_for
from art_adapt.code.nodes import Function, arguments_of, dotted, last_name
from art_adapt.code.project import Project
from art_adapt.code.resolution import named, referred, resolve
from art_adapt.code.session import Session
from art_adapt.code.syntax import Syntax
from art_adapt.code.tables import resolve_in_tables
from art_adapt.code.values import properties
from art_adapt.rules.code.values import Body, Frame, Place, Value

CALLS = 3  # functions entered, one inside the other


@dataclass(frozen=True)
class Functions:
    """The functions of a file, and of the files of its project that it imports from."""

    syntax: Syntax
    session: Session
    _calls: dict[Syntax, dict[str, list[ast.Call]]] = field(
        default_factory=dict, init=False
    )
    _reads: dict[ast.Attribute, ast.Call] = field(default_factory=dict, init=False)
    _handed: dict[ast.expr, ast.Call] = field(default_factory=dict, init=False)

    @cached_property
    def _project(self) -> Project:
        path = self.syntax.source.path
        files = {path: self.syntax}
        return Project((path,), {}, files, session=self.session, on_demand=True)

    def file_of(self, node: ast.AST) -> Syntax:
        """Return the file that a node stands in."""
        others = (each for each in self._project.files.values() if each.has(node))
        if self.syntax.has(node):
            return self.syntax
        return next(others, self.syntax)

    def enter(self, call: Value) -> Body | None:
        """Return the body of the project's function that is called, None if unknown."""
        if not isinstance(call.node, ast.Call):
            return None
        frame = call.place.frame
        depth = 0 if frame is None else frame.depth
        found = self.called(call.syntax, call.node.func) if depth < CALLS else None
        return None if found is None else self._entered(call, *found)

    def _entered(self, call: Value, syntax: Syntax, function: Function) -> Body | None:
        """Return the body of a function that a call enters, None if that is too deep."""
        assert isinstance(call.node, ast.Call)
        frame = call.place.frame
        depth = 0 if frame is None else frame.depth
        while frame is not None:
            if frame.function == function:
                return None  # it calls itself
            frame = frame.outer.frame
        if depth >= CALLS:
            return None
        inner = Frame(call.node, function, call.place, depth + 1)
        return Body(function, Place(syntax, inner))

    def handed(self, callee: Value) -> Body | None:
        """Return the body of a function that something else is handed, and calls.

        Also that of ``__call__`` of an object. What it is called with is unknown.
        """
        found = self.called(callee.syntax, callee.node)
        if found is None:
            return None
        if callee.node not in self._handed:
            call = ast.Call(callee.node, [ast.Starred(ast.Constant(...))], [])
            self._handed[callee.node] = ast.copy_location(call, callee.node)
        call = self._handed[callee.node]
        return Body(found[1], Place(found[0], Frame(call, found[1], callee.place, 1)))

    def read(self, attribute: Value) -> Body | None:
        """Return the body of the one property that an attribute reads, None if unknown."""
        node, syntax = attribute.node, attribute.syntax
        files = (self.syntax, syntax, *self._project.files.values())
        if not isinstance(node, ast.Attribute) or not any(
            node.attr in each.properties for each in files
        ):
            return None
        found = set(properties(self._project, syntax, node))
        if len(found) != 1:
            return None
        [(path, qualname)] = found
        place = self._project.files[path]
        if node not in self._reads:
            self._reads[node] = ast.copy_location(ast.Call(node, [], []), node)
            syntax.adopt(self._reads[node], node)
        return self._entered(
            attribute.of(self._reads[node]), place, place.functions[qualname]
        )

    def may_enter(self, call: Value) -> tuple[Body, ...]:
        """Return the bodies of all functions that a call may enter, as through a table."""
        body = self.enter(call)
        if body is not None or not isinstance(call.node, ast.Call):
            return () if body is None else (body,)
        callee = call.node.func
        keys = self._meant(call.syntax, callee) or resolve_in_tables(
            self._project, call.syntax, callee
        )
        if len(keys) < 2:
            return ()  # what ``enter`` was asked for, and does not enter again
        files = [(self._project.files[path], name) for path, name in keys]
        return tuple(Body(file.functions[name], Place(file)) for file, name in files)

    def called(
        self, syntax: Syntax, callee: ast.expr
    ) -> tuple[Syntax, Function] | None:
        """Return the project's function that an expression of a file names, with its file."""
        function = self._given(syntax, callee)
        if function is not None:
            return syntax, function
        return self._resolved(syntax, callee)

    def _given(self, syntax: Syntax, callee: ast.expr) -> Function | None:
        """Return the one function that a parameter stands for in its file.

        A decorator's parameter is the function that it decorates.
        """
        if function_given(syntax, callee) is None:
            return None
        found = set(referred(self._project, syntax, callee))
        plain = all(  # a lambda or a partial has arguments of its own
            isinstance(each, ast.Name | ast.Attribute)
            and referred(self._project, place, each)
            for place, each in given_for(self._project, syntax, callee)
        )
        path, name = found.pop() if plain and len(found) == 1 else (None, "")
        return syntax.functions.get(name) if path == syntax.source.path else None

    def _resolved(
        self, syntax: Syntax, callee: ast.expr
    ) -> tuple[Syntax, Function] | None:
        """Return the one function that the engine finds, by classes and annotations."""
        known = 0
        found: set[FunctionKey] = set()
        while known < len(
            self._project.files
        ):  # it may have read a file that overrides
            known = len(self._project.files)
            found = set(self._meant(syntax, callee))
        if len(found) != 1:
            return None
        [(path, qualname)] = found
        place = self._project.files[path]
        return place, place.functions[qualname]

    def _meant(self, syntax: Syntax, callee: ast.expr) -> list[FunctionKey]:
        if isinstance(callee, ast.Name):
            found = named(self._project, syntax, callee.id, syntax.owner(callee))
            if found:
                return found
            if syntax.is_local(callee.id, syntax.owner(callee)):
                files = (syntax, *self._project.files.values())
                if not any(each.has_callables for each in files):
                    return []
                called = resolve(self._project, syntax, callee)
                return [key for key in called if key[1].endswith(".__call__")]
        found = resolve(self._project, syntax, callee)
        held = callee.value if isinstance(callee, ast.Attribute) else callee
        if not found and container_of(syntax, held) is not None:
            found = resolve_in_tables(self._project, syntax, callee)
        return found

    def in_file(self, syntax: Syntax, callee: ast.expr) -> Function | None:
        """Return the function of the same file that an expression names."""
        found = self.called(syntax, callee)
        return found[1] if found is not None and found[0] is syntax else None

    def class_of(
        self, syntax: Syntax, called: ast.expr
    ) -> tuple[Syntax, ast.ClassDef] | None:
        """Return the class of the project that is called, if it has no ``__init__``."""
        found = self.class_made(syntax, called)
        if found is None or f"{found[1]}.__init__" in found[0].functions:
            return None
        return found[0], found[0].classes[found[1]]

    def class_made(self, syntax: Syntax, called: ast.expr) -> tuple[Syntax, str] | None:
        """Return the class of the project that is called, with its file."""
        if dotted(called) == "cls" and (
            around := syntax.class_around(syntax.owner(called))
        ):
            return syntax, around
        return self._project.class_named(syntax, dotted(called) or "")

    def field_type(
        self, syntax: Syntax, owner: ast.expr, field: str
    ) -> ast.expr | None:
        """Return the annotation of a field of a class of the project."""
        found = self.class_of(syntax, owner)
        return next(
            (
                statement.annotation
                for statement in ([] if found is None else found[1].body)
                if isinstance(statement, ast.AnnAssign)
                and dotted(statement.target) == field
            ),
            None,
        )

    def called_by(self, syntax: Syntax, qualname: str) -> set[str]:
        """Return the functions of the same file that a function calls."""
        called = (
            self.called(syntax, node.func)
            for node in syntax.owned_by(qualname)
            if isinstance(node, ast.Call)
        )
        return {
            found[1].qualname
            for found in called
            if found is not None and found[0] is syntax
        }

    def run_by(self, syntax: Syntax, names: Iterable[str]) -> frozenset[str]:
        """Return some functions of a file, those inside them, and those that they call."""
        found = set(names)
        left = list(found)
        while left:
            name = left.pop()
            inside = (n for n in syntax.functions if n.startswith(f"{name}."))
            more = {*self.called_by(syntax, name), *inside} - found
            left += more
            found |= more
        return frozenset(found)

    def leading_to(self, syntax: Syntax, names: set[str]) -> frozenset[str]:
        """Return some functions of a file, and those that lead to them by their calls."""
        found = set(names)
        while more := {
            name
            for name in syntax.functions
            if name not in found and self.called_by(syntax, name) & found
        }:
            found |= more
        return frozenset(found)

    def taking(self, syntax: Syntax, parameter: ast.arg) -> Function | None:
        """Return the function of a parameter; None for ``*args`` and of a lambda."""
        node = syntax.parents[syntax.parents[parameter]]
        function = syntax.functions.get(syntax.owners.get(node, ""))
        known = [] if function is None else arguments_of(function.node)
        return function if parameter in known else None

    def calls_of(self, syntax: Syntax, function: Function) -> list[ast.Call]:
        """Return the calls of a function in its file; none if it is also passed on."""
        if syntax not in self._calls:
            found: dict[str, list[ast.Call]] = {}
            passed = set()
            for node in syntax.nodes:
                if isinstance(node, ast.Call):
                    call = _unpartial(node)
                    if call is not node:
                        syntax.adopt(call, node)
                    called = self.called(syntax, call.func)
                    if called is not None and called[0] is syntax:
                        found.setdefault(called[1].qualname, []).append(call)
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    parent = syntax.parents[node]
                    if not isinstance(parent, ast.Call) or node not in (
                        parent.func,
                        _unpartial(parent).func,
                    ):
                        used = self.in_file(syntax, node)
                        if used is not None and node.id not in syntax.classes:
                            passed.add(used.qualname)
            self._calls[syntax] = {
                name: self._entering(syntax, calls)
                for name, calls in found.items()
                if name not in passed
            }
        return self._calls[syntax].get(function.qualname, [])

    def _entering(self, syntax: Syntax, calls: list[ast.Call]) -> list[ast.Call]:
        """Return the calls that enter a function itself.

        Where a decorator calls it with arguments of its own, the others enter the decorator's.
        """
        own = [
            call
            for call in calls
            if self._given(syntax, call.func) is not None
            and not any(isinstance(each, ast.Starred) for each in call.args)
        ]
        return own or calls

    def imported(self, syntax: Syntax, name: str) -> tuple[Syntax, str] | None:
        """Return the file of the project that defines an imported name, and the name there.

        The name is empty for a module.
        """
        module = self._project.imported(syntax, name)
        if isinstance(module, Syntax):
            return module, ""
        return self._project.variable_named(syntax, name)

    def files_imported(self, syntax: Syntax) -> Iterator[Path]:
        """Yield the files of the project that a file imports."""
        for name in syntax.imports:
            path = self._project.located(syntax, name)
            if path is not None:
                yield path


def _unpartial(call: ast.Call) -> ast.Call:
    """Return ``f(x, **unknown)`` for ``partial(f, x)``, and any other call as it is."""
    name = last_name(call.func)
    if name != "partial" or not call.args:
        return call
    rest = ast.keyword(None, ast.Constant(...))
    made = ast.Call(call.args[0], call.args[1:], [*call.keywords, rest])
    return ast.copy_location(made, call)
