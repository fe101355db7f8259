"""Find the definitions of a name that reach a use of it.

A definition reaches a use unless another one certainly stands between them, or its branch
leaves the function. A loop's later definitions reach its earlier statements.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from art_adapt.code.nodes import FunctionNode, arguments_of, assignment
from art_adapt.code.reaching import (
    Bound,
    Definition,
    Reaching,
    makes,
    reaching_by_node,
)
from art_adapt.code.syntax import MODULE_LEVEL, Syntax

ANY = ast.Constant(...)  # the index of some element
ASSIGNING = (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.withitem)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


# How one name is bound in a scope, and what reaches its statements.
ReadScope = tuple[dict[ast.AST, list[Bound]], dict[ast.AST, Reaching]]


@dataclass(frozen=True)
class Definitions:
    """The definitions of the names of a file."""

    syntax: Syntax

    def reaching(self, name: ast.Name) -> list[Definition]:
        """Return the definitions that ``name`` may have its value from, where it stands."""
        bound = self._of_comprehension(name)
        if bound is not None:
            return [bound]
        if name.id in self._shared:
            return [Definition(name, None)]  # any function may set it
        owner = self.syntax.owner(name)
        scopes = [owner]
        if owner != MODULE_LEVEL:
            parts = owner.split(".")
            scopes += [".".join(parts[:end]) for end in range(len(parts) - 1, 0, -1)]
            scopes.append(MODULE_LEVEL)
        for scope in scopes:
            every = self._by_scope.get((scope, name.id))
            if every and scope == owner and len(every) > 1:
                return self._reaching(name, every)
            if every:
                return every
        return []

    def is_shared(self, name: str) -> bool:
        """Return whether some function declares a name global or nonlocal."""
        return name in self._shared

    def values_reaching(
        self, name: ast.expr, assigned: list[ast.expr]
    ) -> list[ast.expr]:
        """Return those of the values assigned to a name that it may have where it stands."""
        if not isinstance(name, ast.Name) or not isinstance(name.ctx, ast.Load):
            return assigned
        reaching = {each.node for each in self.reaching(name)}
        if name in reaching:  # any function may set it
            return assigned
        return [value for value in assigned if self._assigning(value) in reaching]

    def _assigning(self, value: ast.expr) -> ast.AST:
        """Return the innermost statement, or part of one, that assigns a value."""
        outer = self.syntax.ancestors(value)
        return next(each for each in outer if isinstance(each, ASSIGNING))

    @cached_property
    def _shared(self) -> frozenset[str]:
        """Return the names that some function declares global or nonlocal."""
        return frozenset(
            name
            for node in self.syntax.nodes
            if isinstance(node, ast.Global | ast.Nonlocal)
            for name in node.names
        )

    def _of_comprehension(self, name: ast.Name) -> Definition | None:
        """Return the definition by a comprehension around a name."""
        inner: ast.AST = name
        for outer in self.syntax.ancestors(name):
            if isinstance(outer, COMPREHENSIONS):
                for generator in outer.generators:
                    if inner is not generator or generator.iter not in (inner, name):
                        for each in self._bound(
                            outer, generator.target, self._some(generator.iter)
                        ):
                            if each[0] == name.id:
                                return each[1]
            elif isinstance(outer, ast.Lambda):
                for argument in arguments_of(outer):
                    if argument.arg == name.id:
                        return Definition(name, None)
            elif isinstance(outer, ast.stmt):
                return None
            inner = outer
        return None

    @cached_property
    def _by_scope(self) -> dict[tuple[str, str], list[Definition]]:
        found: dict[tuple[str, str], list[Definition]] = {}
        for function in self.syntax.functions.values():
            arguments = function.node.args
            for each in (
                *arguments.posonlyargs,
                *arguments.args,
                *arguments.kwonlyargs,
                *filter(None, (arguments.vararg, arguments.kwarg)),
            ):
                key = (function.qualname, each.arg)
                found.setdefault(key, []).append(Definition(each, None))
        for node in list(self.syntax.nodes):
            if isinstance(node, ast.Name | ast.Attribute):
                continue
            if isinstance(self.syntax.parents.get(node), ast.ClassDef):
                continue  # an attribute of the class
            for name, definition in self._made_by(node):
                key = (self.syntax.owner(node), name)
                found.setdefault(key, []).append(definition)
        return found

    def _made_by(self, node: ast.AST) -> Iterator[tuple[str, Definition]]:
        targets, value = assignment(node)
        if value is not None:
            for target in targets:
                yield from self._bound(node, target, value)
        elif isinstance(node, ast.AugAssign):
            if isinstance(node.target, ast.Name):
                before = self._placed(ast.Name(node.target.id), node.target)
                sum_of = ast.BinOp(before, node.op, node.value)
                value = self._placed(sum_of, node.target)
                yield node.target.id, Definition(node, value)
        elif isinstance(node, ast.For | ast.AsyncFor):
            yield from self._bound(node, node.target, self._some(node.iter))
        elif isinstance(node, FunctionNode | ast.ClassDef):
            yield node.name, Definition(node, None)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                yield from self._captured(case.pattern, node.subject)
        elif isinstance(node, ast.ExceptHandler):
            if node.name:
                yield node.name, Definition(node, None)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name.split(".")[0], Definition(node, None)

    def _bound(
        self, node: ast.AST, target: ast.expr, value: ast.expr
    ) -> Iterator[tuple[str, Definition]]:
        """Yield the names that ``target`` binds, each with its part of ``value``."""
        if isinstance(target, ast.Name):
            yield target.id, Definition(node, value)
        elif isinstance(target, ast.Tuple | ast.List):
            starred = any(isinstance(each, ast.Starred) for each in target.elts)
            for index, each in enumerate(target.elts):
                if isinstance(each, ast.Starred):
                    yield from self._bound(node, each.value, self._some(value))
                else:
                    at = ANY if starred else ast.Constant(index)
                    yield from self._bound(node, each, self._part(value, at))

    def _captured(
        self, pattern: ast.pattern, value: ast.expr | None
    ) -> Iterator[tuple[str, Definition]]:
        """Yield the names that a pattern binds, each with its part of what is matched."""
        parts: list[tuple[ast.pattern, ast.expr | None]] = []

        def part(index: ast.expr) -> ast.expr | None:
            return None if value is None else self._part(value, index)

        def held(name: str) -> ast.expr | None:
            if value is None:
                return None
            return self._placed(ast.Attribute(value, name, ast.Load()), value)

        match pattern:
            case ast.MatchAs(pattern=inner, name=name):
                if name is not None:
                    yield name, Definition(pattern, value)
                parts = [] if inner is None else [(inner, value)]
            case ast.MatchStar(name=str(name)):
                yield name, Definition(pattern, part(ANY))
            case ast.MatchOr(patterns=either):
                parts = [(each, value) for each in either]
            case ast.MatchSequence(patterns=items):
                starred = any(isinstance(each, ast.MatchStar) for each in items)
                for index, each in enumerate(items):
                    rest = isinstance(each, ast.MatchStar)
                    at = ANY if starred else ast.Constant(index)
                    parts.append((each, value if rest else part(at)))
            case ast.MatchMapping(keys=keys, patterns=items, rest=left):
                if left is not None:
                    yield left, Definition(pattern, None)
                parts = [(p, part(key)) for key, p in zip(keys, items, strict=True)]
            case ast.MatchClass(patterns=items, kwd_attrs=names, kwd_patterns=named):
                parts = [(each, None) for each in items]  # by __match_args__
                parts += [(p, held(n)) for n, p in zip(names, named, strict=True)]
            case _:
                pass
        for inner, inside in parts:
            yield from self._captured(inner, inside)

    def _some(self, value: ast.expr) -> ast.expr:
        return self._part(value, ANY)

    def _part(self, value: ast.expr, index: ast.expr) -> ast.expr:
        """Return an expression for a part of ``value``, which stands where that stands."""
        return self._placed(ast.Subscript(value, index, ast.Load()), value)

    def _placed(self, made: ast.expr, beside: ast.expr) -> ast.expr:
        self.syntax.adopt(ast.copy_location(made, beside), beside)
        return made

    def _reaching(self, use: ast.Name, every: list[Definition]) -> list[Definition]:
        """Return those of several definitions of a scope that reach a use in it."""
        syntax = self.syntax
        scope = next(
            (n for n in syntax.ancestors(use) if isinstance(n, FunctionNode)),
            syntax.source.tree,
        )
        key = (scope, use.id)
        if key not in self._read:
            self._read[key] = self._read_scope(scope, every)
        bound, before = self._read[key]
        place: ast.AST = use
        while place not in before:
            if place not in syntax.parents:
                return every
            place = syntax.parents[place]
        state = before[place]
        if state is None:
            return every  # nothing gets here
        for each in bound.get(place, ()):
            node = each.definition.node
            if isinstance(node, ast.NamedExpr) and _end(node) <= _start(use):
                state = (frozenset() if each.certain else state) | {each.definition}
        return [each for each in reversed(every) if each in state]

    @cached_property
    def _read(self) -> dict[tuple[ast.AST, str], ReadScope]:
        return {}

    def _read_scope(
        self,
        scope: ast.FunctionDef | ast.AsyncFunctionDef | ast.Module,
        every: list[Definition],
    ) -> ReadScope:
        bound: dict[ast.AST, list[Bound]] = {}
        parameters = []
        for each in every:
            if isinstance(each.node, ast.arg):
                parameters.append(each)
            else:
                node, certain = makes(each.node, self.syntax.parents)
                bound.setdefault(node, []).append(Bound(each, certain))
        return bound, reaching_by_node(scope.body, bound, parameters)


def _start(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or 0, node.end_col_offset or 0
