"""Tells which functions call which, across the files of one project."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from art_adapt.survey.project import Project
from art_adapt.survey.syntax import MODULE_LEVEL, Syntax, dotted

FunctionKey = tuple[Path, str]


@dataclass
class CallGraph:
    """The calls between functions, and where they stand.

    ``certain`` edges are resolved by name, import or class; ``possible`` edges match a
    method's name only.
    """

    certain: dict[FunctionKey, set[FunctionKey]] = field(default_factory=dict)
    possible: dict[FunctionKey, set[FunctionKey]] = field(default_factory=dict)
    sites: dict[tuple[FunctionKey, FunctionKey], list[ast.expr]] = field(
        default_factory=dict
    )

    @staticmethod
    def of(project: Project) -> CallGraph:
        graph = CallGraph()
        methods: dict[str, list[FunctionKey]] = {}
        for syntax in project.files.values():
            for function in syntax.functions.values():
                if function.class_name is not None:
                    methods.setdefault(function.node.name, []).append(
                        (syntax.source.path, function.qualname)
                    )
        for syntax in project.files.values():
            for node in syntax.nodes:
                if isinstance(node, ast.Name | ast.Attribute) and isinstance(
                    node.ctx, ast.Load
                ):
                    graph._add(project, syntax, node, methods)
        return graph

    def _add(
        self,
        project: Project,
        syntax: Syntax,
        node: ast.Name | ast.Attribute,
        methods: dict[str, list[FunctionKey]],
    ) -> None:
        caller = (syntax.source.path, syntax.owner(node))
        found = resolve(project, syntax, node) if _is_used(syntax, node) else []
        for callee in found:
            if callee != caller or isinstance(syntax.parents.get(node), ast.Call):
                self.certain.setdefault(caller, set()).add(callee)
                self.sites.setdefault((caller, callee), []).append(node)
        if not found and isinstance(node, ast.Attribute):
            for callee in methods.get(node.attr, ())[:4]:
                self.possible.setdefault(caller, set()).add(callee)

    def callers(self, key: FunctionKey) -> list[FunctionKey]:
        return [caller for caller, callees in self.certain.items() if key in callees]

    def reaching(
        self, targets: Iterable[FunctionKey], *, guess: bool = False
    ) -> set[FunctionKey]:
        """The functions from which one of ``targets`` can be reached, including the targets.

        ``guess``: follow possible edges as well.
        """
        back: dict[FunctionKey, set[FunctionKey]] = {}
        for edges in (self.certain, self.possible) if guess else (self.certain,):
            for caller, callees in edges.items():
                for callee in callees:
                    back.setdefault(callee, set()).add(caller)
        return _closure(targets, back)

    def reachable(self, starts: Iterable[FunctionKey]) -> set[FunctionKey]:
        """The functions that can be reached from ``starts`` over certain and possible edges."""
        forward: dict[FunctionKey, set[FunctionKey]] = {}
        for edges in (self.certain, self.possible):
            for caller, callees in edges.items():
                forward.setdefault(caller, set()).update(callees)
        return _closure(starts, forward)


def _is_used(syntax: Syntax, node: ast.expr) -> bool:
    """Whether the named object is called here, or passed to something that may call it."""
    parent = syntax.parents.get(node)
    return isinstance(parent, ast.Call | ast.keyword | ast.Starred)


def _closure(
    starts: Iterable[FunctionKey], edges: dict[FunctionKey, set[FunctionKey]]
) -> set[FunctionKey]:
    seen: set[FunctionKey] = set()
    left = list(starts)
    while left:
        key = left.pop()
        if key not in seen:
            seen.add(key)
            left.extend(edges.get(key, ()))
    return seen


def resolve(project: Project, syntax: Syntax, node: ast.expr) -> list[FunctionKey]:
    """Find the functions that a name or attribute refers to.

    A class refers to its constructor.
    """
    name = dotted(node)
    if name is None:
        # Agent(...).run: the class is named in the expression itself.
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call):
            return _members(project, syntax, node.value.func, node.attr)
        return []
    head, _, rest = name.partition(".")
    owner = syntax.owner(node)
    if not rest:
        return _named(project, syntax, head, owner) or _of_instances(
            project, syntax, syntax.values_of(node), "__call__"
        )
    if "." in rest and head not in ("self", "cls") and head not in syntax.imports:
        return []
    if head in ("self", "cls"):
        attribute, _, further = rest.partition(".")
        if not further:
            return method_of(project, syntax, _class_of(syntax, owner), attribute)
        if "." in further:
            return []
        # self.llm = LLM(...); self.llm.ask(...)
        values = [v for _, v in syntax.assignments.get(f"{head}.{attribute}", [])]
        return _of_instances(project, syntax, values, further)
    if head in syntax.imports:
        target = project.imported(syntax, head)
        if isinstance(target, Syntax):  # import helper; helper.run(...)
            return (
                _named(project, target, rest, MODULE_LEVEL) if "." not in rest else []
            )
        if target is not None and "." not in rest:  # from agent import Agent; Agent.run
            return method_of(project, target[0], target[1], rest)
        return []
    found = _of_instances(project, syntax, syntax.values_of(_name_node(node)), rest)
    return found or method_of(project, syntax, head, rest)


def _of_instances(
    project: Project, syntax: Syntax, values: Iterable[ast.expr], attribute: str
) -> list[FunctionKey]:
    """Find the method ``attribute`` of the first of ``values`` that makes an instance."""
    for value in values:
        if isinstance(value, ast.Call) and (
            found := _members(project, syntax, value.func, attribute)
        ):
            return found
    return []


def _name_node(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def _class_of(syntax: Syntax, owner: str) -> str:
    parts = owner.split(".")
    while parts and ".".join(parts) not in syntax.classes:
        parts.pop()
    return ".".join(parts)


def _named(
    project: Project, syntax: Syntax, name: str, owner: str
) -> list[FunctionKey]:
    parts = [] if owner == MODULE_LEVEL else owner.split(".")
    # A function inside this one, beside it, ..., at module level.
    for depth in range(len(parts), -1, -1):
        qualname = ".".join([*parts[:depth], name])
        if qualname in syntax.functions and (
            depth == 0 or ".".join(parts[:depth]) in syntax.functions
        ):
            return [(syntax.source.path, qualname)]
        if qualname in syntax.classes:
            return method_of(project, syntax, qualname, "__init__")
    if name in syntax.imports:
        target = project.imported(syntax, name)
        if isinstance(target, tuple):
            return _named(project, target[0], target[1], MODULE_LEVEL)
    return []


def _members(
    project: Project, syntax: Syntax, constructor: ast.expr, attribute: str
) -> list[FunctionKey]:
    """Find the method ``attribute`` of the class that ``constructor`` names."""
    found = _class(project, syntax, dotted(constructor) or "")
    return [] if found is None else method_of(project, *found, attribute)


def _class(project: Project, syntax: Syntax, name: str) -> tuple[Syntax, str] | None:
    """Find the class ``name`` in this file, among its imports, or in an imported module."""
    if name in syntax.classes:
        return syntax, name
    head, _, rest = name.partition(".")
    target = project.imported(syntax, head) if head in syntax.imports else None
    if isinstance(target, Syntax):
        return (target, rest) if rest in target.classes else None
    return target if not rest else None


def method_of(
    project: Project, syntax: Syntax, class_name: str, attribute: str, depth: int = 0
) -> list[FunctionKey]:
    """Find a method of a class, inherited ones included."""
    qualname = f"{class_name}.{attribute}"
    if qualname in syntax.functions:
        return [(syntax.source.path, qualname)]
    definition = syntax.classes.get(class_name)
    if definition is None or depth > 5:
        return []
    for base in definition.bases:
        place = _class(project, syntax, dotted(base) or "")
        if place is not None and (
            found := method_of(project, *place, attribute, depth + 1)
        ):
            return found
    return []
