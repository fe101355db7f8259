"""Tells which functions call which, across the files of one project."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from art_adapt.code.classes import FunctionKey
from art_adapt.code.mentions import (
    is_base,
    is_called_on_each,
    is_decorator,
    is_kept,
    is_put_aside,
    is_used,
    only_describes,
    variable_read,
)
from art_adapt.code.nodes import FunctionNode, called_name, dotted
from art_adapt.code.object_use import PLAIN_METHODS
from art_adapt.code.project import Project
from art_adapt.code.questions import question
from art_adapt.code.registering import registers
from art_adapt.code.resolution import resolve, resolve_name
from art_adapt.code.state_graphs import is_added, run_by_graph
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.code.tables import resolve_in_tables

Edges = dict[FunctionKey, set[FunctionKey]]
Sites = dict[tuple[FunctionKey, FunctionKey], list[ast.expr]]  # by caller and callee


@dataclass(frozen=True)
class Reads:
    """A function reads a variable of another file, as a table of tools."""

    path: Path


@dataclass(frozen=True)
class Mentions:
    """A function names others without a call."""

    named: tuple[FunctionKey, ...]


@dataclass(frozen=True)
class Calls:
    """A function calls another, where ``node`` names it, or through a list or dict."""

    callee: FunctionKey
    node: ast.expr
    through_table: bool = False


@dataclass(frozen=True)
class Unresolved:
    """A function uses an attribute of an object whose class is not known."""

    name: str


Edge = Reads | Mentions | Calls | Unresolved


@dataclass
class CallGraph:
    """The calls between functions, and where they stand.

    ``certain`` edges are resolved by name, import or class; ``possible`` edges match a
    method's name only; ``tabled`` edges lead through the elements of a list or dict.
    ``mentioned`` are functions that are named without a call, as in a table of tools.
    """

    certain: Edges = field(default_factory=dict)
    possible: Edges = field(default_factory=dict)
    mentioned: Edges = field(default_factory=dict)
    sites: Sites = field(default_factory=dict)
    tabled: Sites = field(default_factory=dict)
    # The files of which a function reads a variable, as a table of tools.
    read: dict[FunctionKey, set[Path]] = field(default_factory=dict)
    # What leads to functions that were asked for.
    _leading: Edges = field(default_factory=dict, init=False)

    @staticmethod
    def of(project: Project) -> CallGraph:
        """Build the graph of a project from what each of its functions does."""
        graph = CallGraph()
        methods: dict[str, list[FunctionKey]] = {}
        for syntax in project.files.values():
            for function in syntax.functions.values():
                if function.class_name is not None:
                    methods.setdefault(function.node.name, []).append(
                        (syntax.source.path, function.qualname)
                    )
        for path, syntax in project.files.items():
            for root, owner in syntax.owners.items():
                for edge in _edges_of(project, syntax, root):
                    graph._add((path, owner), edge, methods)
        shown: Sites = {}  # that the code does not
        for caller, callee, line in sorted(project.session.shown.calls):
            is_read = _is_read(project, caller) and _is_read(project, callee)
            if is_read and callee not in graph.certain.get(caller, ()):
                nodes = _named_at(project, caller, callee, line)
                shown.setdefault((caller, callee), []).extend(nodes)
        for caller, callee in shown:
            graph.certain.setdefault(caller, set()).add(callee)
        graph.sites |= shown
        return graph

    def _add(
        self, caller: FunctionKey, edge: Edge, methods: dict[str, list[FunctionKey]]
    ) -> None:
        match edge:
            case Reads(path):
                self.read.setdefault(caller, set()).add(path)
            case Mentions(named):
                self.mentioned.setdefault(caller, set()).update(named)
            case Calls(callee, node, through_table=True):
                self.tabled.setdefault((caller, callee), []).append(node)
            case Calls(callee, node):
                self.certain.setdefault(caller, set()).add(callee)
                self.sites.setdefault((caller, callee), []).append(node)
            case Unresolved(name):
                found = methods.get(name, ())[:4]
                if found:
                    self.possible.setdefault(caller, set()).update(found)

    def with_tables(self, asking: Iterable[FunctionKey]) -> CallGraph:
        """Follow tables where nothing else leads to a model.

        ``asking``: the functions that make completion calls. A function that reaches one
        only through a table has a table of providers or of agents, and these edges are
        certain. Where it asks anyway, or is called by a function that does, it is a table
        of tools, which are no part of the conversation.
        """
        others = _closure(self.reaching(asking), lambda key: self.certain.get(key, ()))
        certain, sites = _merged(self.certain), dict(self.sites)
        for (caller, callee), nodes in self.tabled.items():
            if caller not in others:
                certain.setdefault(caller, set()).add(callee)
                sites[caller, callee] = [*sites.get((caller, callee), ()), *nodes]
        return replace(self, certain=certain, sites=sites)

    @cached_property
    def only_in_tables(self) -> set[FunctionKey]:
        """Return the functions that only a table leads to: tools, and what these call."""
        starts = {
            callee
            for caller, callee in self.tabled
            if not self._is_called(callee) and not self.leads_to(callee, caller)
        }
        found = _closure(starts, lambda key: self.certain.get(key, ()))
        while others := {
            key
            for key in found - starts
            if any(c not in found for c in self.callers(key))
        }:
            found -= others
        return found

    def leads_to(self, key: FunctionKey, other: FunctionKey) -> bool:
        """True if a function calls another, directly or through others.

        An agent that looks its tools up among its own methods is none of them.
        """
        if other not in self._leading:
            self._leading[other] = self.reaching([other])
        return key in self._leading[other]

    def _is_called(self, key: FunctionKey) -> bool:
        """True if something other than the function itself calls it by its name."""
        return any(caller != key for caller in self.callers(key))

    def callers(self, key: FunctionKey) -> list[FunctionKey]:
        return self._callers.get(key, [])

    @cached_property
    def _callers(self) -> dict[FunctionKey, list[FunctionKey]]:
        """Return the certain edges, backwards."""
        found: dict[FunctionKey, list[FunctionKey]] = {}
        for caller, callees in self.certain.items():
            for callee in callees:
                found.setdefault(callee, []).append(caller)
        return found

    def calls_of(
        self, project: Project, key: FunctionKey
    ) -> Iterator[tuple[Syntax, ast.Call]]:
        """Yield the calls of a function by others, with the files that they stand in."""
        for caller, named in self._named.get(key, ()):
            place = project.files[caller[0]]
            call = place.parents.get(named)
            if caller != key and isinstance(call, ast.Call) and call.func is named:
                yield place, call

    def sites_of(self, key: FunctionKey) -> Iterator[ast.expr]:
        """Yield where a function is used, which certain edges say."""
        for _, named in self._named.get(key, ()):
            yield named

    @cached_property
    def _named(self) -> dict[FunctionKey, list[tuple[FunctionKey, ast.expr]]]:
        """Return the sites, by what they call."""
        found: dict[FunctionKey, list[tuple[FunctionKey, ast.expr]]] = {}
        for (caller, callee), nodes in self.sites.items():
            found.setdefault(callee, []).extend((caller, node) for node in nodes)
        return found

    def reaching(
        self, targets: Iterable[FunctionKey], *, guess: bool = False
    ) -> set[FunctionKey]:
        """Return the functions from which one of ``targets`` can be reached, including the targets.

        ``guess``: follow possible edges as well.
        """
        if not guess:
            return _closure(targets, self.callers)
        back = self._possible_callers.get
        return _closure(targets, lambda key: (*self.callers(key), *back(key, ())))

    @cached_property
    def _possible_callers(self) -> Edges:
        back: Edges = {}
        for caller, callees in self.possible.items():
            for callee in callees:
                back.setdefault(callee, set()).add(caller)
        return back

    def run_by(self, starts: Iterable[FunctionKey]) -> set[FunctionKey]:
        """Return the functions that may run when ``starts`` do, through tables of tools as well."""

        def run(key: FunctionKey) -> Iterator[FunctionKey]:
            yield from self._running.get(key, ())
            # What a module only names, those may look up who read its variables.
            for path in (key[0], *self.read.get(key, ())):
                yield from self.mentioned.get((path, MODULE_LEVEL), ())

        return _closure(starts, run)

    @cached_property
    def _tabled(self) -> Edges:
        found: Edges = {}
        for caller, callee in self.tabled:
            found.setdefault(caller, set()).add(callee)
        return found

    @cached_property
    def _running(self) -> Edges:
        """Return what a function may run: calls, what it names, and methods of unique names."""
        unique: Edges = {}
        for caller, callees in self.possible.items():
            # A name that several classes have says too little.
            names = [name.rpartition(".")[2] for _, name in callees]
            unique[caller] = {
                key for key in callees if names.count(key[1].rpartition(".")[2]) == 1
            }
        return _merged(self.certain, self._tabled, self.mentioned, unique)

    def recursion(self, key: FunctionKey) -> set[FunctionKey]:
        """Return the other functions that call this one and are called by it, through others."""
        if not self.certain.get(key):
            return set()
        called = _closure([key], lambda each: self.certain.get(each, ()))
        return (called & self.reaching([key])) - {key}

    def reachable(self, starts: Iterable[FunctionKey]) -> set[FunctionKey]:
        """Return the functions that can be reached from ``starts`` over edges of any kind."""
        forward = _merged(self.certain, self._tabled, self.possible)
        return _closure(starts, lambda key: forward.get(key, ()))


@question
def _edges_of(project: Project, syntax: Syntax, root: ast.AST) -> Iterator[Edge]:
    """Yield what the code of one function leads to, or that of a module outside of any."""
    owner = syntax.owners[root]
    for node in syntax.owned_by(owner):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(
            node.ctx, ast.Load
        ):
            yield from _edges(project, syntax, owner, node)
        elif isinstance(node, ast.Call) and isinstance(
            node.func, ast.Subscript | ast.Call
        ):
            yield from _edges(project, syntax, owner, node.func)  # TOOLS[name](...)
        elif isinstance(node, ast.Call) and dotted(node.func) == "getattr":
            yield from _edges(project, syntax, owner, node)  # where it is handed on


def _edges(
    project: Project, syntax: Syntax, owner: str, node: ast.expr
) -> Iterator[Edge]:
    caller = (syntax.source.path, owner)
    if (read := variable_read(project, syntax, node)) is not None:
        yield Reads(read[0].source.path)
    if is_base(syntax, node):
        return  # its methods are the derived class's, which some call may run
    found: list[FunctionKey] = []
    if not is_used(syntax, node):
        named = (
            resolve_name(project, syntax, node)
            if isinstance(node, ast.Name)
            else resolve(project, syntax, node)
        )
        if is_decorator(syntax, node):  # it has run; what it puts around has not
            yield from _registered(project, syntax, node, named)
            named = [inner for key in named for inner in _inside(project, key)]
        elif only_describes(syntax, node):
            named = []
        yield Mentions(tuple(named))
    else:
        found = resolve(project, syntax, node)
        found = found or list(run_by_graph(project, syntax, node))
        call = syntax.parents[node]
        if isinstance(call, ast.Call) and is_decorator(syntax, call):
            yield from _registered(project, syntax, call, found)  # @tool("search")
        listed = () if found else resolve_in_tables(project, syntax, node)
        if listed and is_called_on_each(syntax, node):
            found = [*found, *listed]
        else:
            for callee in listed:
                yield Calls(callee, node, through_table=True)
    if found and (is_put_aside(syntax, node) or is_added(project, syntax, node)):
        yield Mentions(tuple(found))
        return  # what looks it up runs it
    if found and owner == MODULE_LEVEL and is_kept(syntax, node):
        yield Mentions(tuple(found))
    for callee in found:
        if callee != caller or isinstance(syntax.parents.get(node), ast.Call):
            yield Calls(callee, node)
    is_plain = isinstance(node, ast.Attribute) and node.attr in PLAIN_METHODS
    if not found and isinstance(node, ast.Attribute) and not is_plain:
        yield Unresolved(node.attr)


def _registered(
    project: Project, syntax: Syntax, decorator: ast.expr, keys: list[FunctionKey]
) -> Iterator[Mentions]:
    """Yield the function below a decorator of the project that keeps it, as a registry's does."""
    below = syntax.parents[decorator]
    is_made = isinstance(decorator, ast.Call)
    if isinstance(below, FunctionNode) and any(
        registers(project, key, is_made) for key in keys
    ):
        yield Mentions(((syntax.source.path, syntax.owners[below]),))


def _inside(project: Project, key: FunctionKey) -> Iterator[FunctionKey]:
    """Yield the functions inside a function."""
    path, around = key
    for qualname in project.home(path).functions:
        if qualname.startswith(f"{around}."):
            yield path, qualname


def _is_read(project: Project, key: FunctionKey) -> bool:
    path, name = key
    return path in project.files and name in project.files[path].functions


def _named_at(
    project: Project, caller: FunctionKey, callee: FunctionKey, line: int
) -> Iterator[ast.Call]:
    """Yield the calls on a line that name the function which a run has shown to be called."""
    syntax = project.files[caller[0]]
    owner, _, name = callee[1].rpartition(".")
    named = owner.rpartition(".")[2] if name == "__init__" else name
    for node in syntax.owned_by(caller[1]):
        if (
            isinstance(node, ast.Call)
            and called_name(node) == named
            and node.lineno <= line <= (node.end_lineno or 0)
        ):
            yield node


def _merged(*several: Edges) -> Edges:
    merged: Edges = {}
    for edges in several:
        for caller, callees in edges.items():
            merged.setdefault(caller, set()).update(callees)
    return merged


def _closure(
    starts: Iterable[FunctionKey],
    next_to: Callable[[FunctionKey], Iterable[FunctionKey]],
) -> set[FunctionKey]:
    """Return everything that ``next_to`` leads to from ``starts``, these included."""
    seen: set[FunctionKey] = set()
    left = list(starts)
    while left:
        key = left.pop()
        if key not in seen:
            seen.add(key)
            left.extend(next_to(key))
    return seen
