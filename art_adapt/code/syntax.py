"""Indexes one file's tree: scopes, functions, imports and what names may hold."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from art_adapt.code.nodes import (
    Function,
    FunctionNode,
    arguments_of,
    assignment,
    decorator_names,
    defaults_of,
    dotted,
    grown_list,
    made_of,
    paired,
    set_by_name,
    statements_after,
)
from art_adapt.source import Place, Source

if TYPE_CHECKING:
    from art_adapt.code.definitions import Definitions

MODULE_LEVEL = "<module>"
LAMBDA = "<lambda>"  # at module level: who looks it up runs it
PROPERTIES = {"property", "cached_property"}  # decorators of what is read
LOOPS = (ast.For, ast.AsyncFor, ast.While)
# The built-in types that annotations of plain data name.
BUILTIN = frozenset(
    [
        "str",
        "int",
        "float",
        "bool",
        "list",
        "dict",
        "tuple",
        "set",
        "None",
        "object",
        "bytes",
    ]
)


@dataclass(frozen=True)
class Import:
    """``import module`` or ``from module import attribute``.

    ``level`` counts the leading dots.
    """

    module: str
    attribute: str | None
    level: int
    node: ast.Import | ast.ImportFrom


@dataclass(eq=False, repr=False)
class Syntax:
    """An index over a file's tree, made in one walk."""

    source: Source
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    imports: dict[str, Import] = field(default_factory=dict)
    # In source order, outer before inner.
    nodes: list[ast.AST] = field(default_factory=list)
    _owners: dict[ast.AST, str] = field(default_factory=dict)

    @staticmethod
    def of(source: Source) -> Syntax:
        syntax = Syntax(source)
        stack: list[tuple[ast.AST, tuple[str, ...], str | None, str]] = [
            (source.tree, (), None, MODULE_LEVEL)
        ]
        while stack:
            node, scope, class_name, owner = stack.pop()
            syntax.nodes.append(node)
            syntax._owners[node] = owner
            inner = (scope, class_name, owner)
            if isinstance(node, ast.ClassDef):
                syntax.classes[".".join((*scope, node.name))] = node
                inner = ((*scope, node.name), node.name, owner)
            elif isinstance(node, FunctionNode):
                qualname = ".".join((*scope, node.name))
                syntax.functions[qualname] = Function(
                    qualname, node, class_name, nested=owner != MODULE_LEVEL
                )
                inner = ((*scope, node.name), None, qualname)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                syntax._add_imports(node)
            body = (
                set(getattr(node, "body", []))
                if isinstance(node, ast.ClassDef | FunctionNode)
                else ()
            )
            for child in reversed(list(ast.iter_child_nodes(node))):
                syntax.parents[child] = node
                # Decorators, defaults and base classes belong to the scope around.
                stack.append(
                    (
                        child,
                        *(
                            inner
                            if not body or child in body
                            else (scope, class_name, owner)
                        ),
                    )
                )
        return syntax

    def _add_imports(self, node: ast.Import | ast.ImportFrom) -> None:
        # A fallback for an import that failed does not replace the import.
        is_fallback = any(
            isinstance(n, ast.ExceptHandler) for n in self.ancestors(node)
        )
        for name in node.names:
            if isinstance(node, ast.ImportFrom):
                local = name.asname or name.name
                if local == "*":  # several may stand side by side
                    local = f"*{'.' * node.level}{node.module or ''}"
                found = Import(node.module or "", name.name, node.level, node)
            else:
                local = name.asname or name.name.split(".")[0]
                found = Import(name.name, None, 0, node)
            if not (is_fallback and local in self.imports):
                self.imports[local] = found

    def runs_in(self, node: ast.AST) -> str:
        """Return the ``owner``, but LAMBDA for what stands in a lambda at module level."""
        owner = self._owners[node]
        if owner == MODULE_LEVEL and any(
            isinstance(outer, ast.Lambda) for outer in self.ancestors(node)
        ):
            return LAMBDA
        return owner

    def owner(self, node: ast.AST) -> str:
        """Return the qualified name of the function that contains ``node``."""
        return self._owners[node]

    def has(self, node: ast.AST) -> bool:
        """True if a node is of this file."""
        return node in self._owners

    def adopt(self, node: ast.AST, beside: ast.AST) -> None:
        """Give a node that was made from others the place of one of them."""
        self.parents[node] = self.parents[beside]
        self._owners[node] = self._owners[beside]

    @cached_property
    def owners(self) -> dict[ast.AST, str]:
        """Return the module and the functions of a file, and the names that ``owner`` has for them."""
        found: dict[ast.AST, str] = {self.source.tree: MODULE_LEVEL}
        found |= {each.node: name for name, each in self.functions.items()}
        return found

    def owned_by(self, qualname: str) -> Iterator[ast.AST]:
        """Return the nodes of a function's own body, without those of functions inside it."""
        return iter(self._nodes_by_owner.get(qualname, ()))

    @cached_property
    def properties(self) -> frozenset[str]:
        """Return the names of the methods that are read as an attribute."""
        return frozenset(
            name.rpartition(".")[2]
            for name, each in self.functions.items()
            if not PROPERTIES.isdisjoint(decorator_names(each.node))
        )

    @cached_property
    def has_callables(self) -> bool:
        """Return whether a class here has objects that are called as functions are."""
        return any(name.endswith(".__call__") for name in self.functions)

    @cached_property
    def _nodes_by_owner(self) -> dict[str, list[ast.AST]]:
        found: dict[str, list[ast.AST]] = {}
        for node in self.nodes:
            found.setdefault(self._owners[node], []).append(node)
        return found

    def place(self, node: ast.expr | ast.stmt | ast.excepthandler) -> Place:
        return Place(self.source.path, node.lineno, node.col_offset + 1)

    def text(self, node: ast.AST, limit: int = 70) -> str:
        """Return the source of an expression on one line, for messages."""
        text = " ".join(ast.unparse(node).split())
        return text if len(text) <= limit else text[: limit - 3] + "..."

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def is_guarded(self, node: ast.AST) -> bool:
        """True if ``node`` is under ``if __name__ == "__main__":``."""
        return any(map(is_guard, self.ancestors(node)))

    def enclosing_loop(
        self, node: ast.AST
    ) -> ast.For | ast.AsyncFor | ast.While | None:
        """Return the innermost loop around ``node`` in its own function."""
        return next(self.enclosing_loops(node), None)

    def enclosing_loops(
        self, node: ast.AST
    ) -> Iterator[ast.For | ast.AsyncFor | ast.While]:
        """Yield the loops around ``node`` in its own function, the innermost first."""
        inner = node
        for outer in self.ancestors(node):
            if isinstance(outer, FunctionNode | ast.Lambda):
                return
            if (
                isinstance(outer, LOOPS)
                and inner is not getattr(outer, "iter", None)
                and inner not in outer.orelse
            ):
                yield outer
            inner = outer

    def left_after(self, node: ast.AST, loop: ast.AST | None = None) -> ast.AST | None:
        """Return the loop around a node, or ``loop``, if what follows in it leaves it."""
        loop = loop or self.enclosing_loop(node)
        inner = node
        for outer in self.ancestors(node) if loop is not None else ():
            after = (inner, *statements_after(inner, outer))
            if any(isinstance(each, ast.Break | ast.Return) for each in after):
                return loop
            if outer is loop:
                break
            inner = outer
        return None

    @cached_property
    def imports_all(self) -> bool:
        """Return whether the file imports from a module whatever it has: ``import *``."""
        return any(each.attribute == "*" for each in self.imports.values())

    @property
    def defined(self) -> set[str]:
        """Return the public names of the module: what ``import *`` takes, without its ``__all__``."""
        top = {
            name
            for name, values in self.assignments.items()
            for at, _ in values
            if at == MODULE_LEVEL
        }
        names = {*self.functions, *self.classes, *self.imports, *top}
        return {name for name in names if name.isidentifier() and name[0] != "_"}

    @cached_property
    def declared_global(self) -> frozenset[tuple[str, str]]:
        """Return the names that functions say are the module's, each with its function."""
        return frozenset(
            (self._owners[node], name)
            for node in self.nodes
            if isinstance(node, ast.Global)
            for name in node.names
        )

    @cached_property
    def assignments(self) -> dict[str, list[tuple[str, ast.expr]]]:
        """Return the values that names and ``self`` attributes are assigned, by target.

        Each comes with the function that assigns it; a field with its class, and what
        ``global`` says is the module's with that.
        """
        classes = {node: name for name, node in self.classes.items()}
        found: dict[str, list[tuple[str, ast.expr]]] = {}
        for node in self.nodes:
            targets, given = assignment(node)
            if (kept := set_by_name(node)) is not None:
                targets, given = [kept[0]], kept[1]
            if given is None:
                continue
            for target, value in (p for each in targets for p in paired(each, given)):
                if (key := dotted(target)) is not None:
                    around = classes.get(self.parents[node])  # type: ignore[call-overload]
                    where = around or self._owners[node]
                    where = (
                        MODULE_LEVEL if (where, key) in self.declared_global else where
                    )
                    found.setdefault(key, []).append((where, value))
        return found

    @cached_property
    def annotations(self) -> dict[str, list[tuple[str, ast.expr]]]:
        """Return the annotations of parameters, names and ``self`` attributes, by target.

        Each comes with the function that it belongs to.
        """
        found: dict[str, list[tuple[str, ast.expr]]] = {}
        for node in self.nodes:
            if not isinstance(node, ast.AnnAssign):
                continue
            if (key := dotted(node.target)) is not None:
                pair = (self._owners[node], node.annotation)
                found.setdefault(key, []).append(pair)
        for function in self.functions.values():
            for each in arguments_of(function.node):
                if each.annotation is not None:
                    pair = (function.qualname, each.annotation)
                    found.setdefault(each.arg, []).append(pair)
        return found

    def annotations_of(self, expression: ast.expr) -> list[ast.expr]:
        """Return the annotations of a name or attribute where ``expression`` stands."""
        key, owner = dotted(expression) or "", self.owner(expression)
        around = [MODULE_LEVEL, owner]
        if not self.is_local(key, owner):
            around += self.functions_around(owner)
        return [
            annotation
            for where, annotation in self.annotations.get(key, ())
            if "." in key or where in around
        ]

    @cached_property
    def definitions(self) -> Definitions:
        """Return the definitions of this file's names, each with where it reaches."""
        from art_adapt.code.definitions import Definitions  # which reads this index

        return Definitions(self)

    def values_of(self, expression: ast.expr) -> list[ast.expr]:
        """Return the values that this file assigns to a name or attribute, local ones first.

        Of a name that its function gives several, those that reach it where it stands.
        """
        key = dotted(expression)
        if key is None:
            return []
        owner = self.owner(expression)
        if "." in key:
            assigned = self.assignments.get(key, [])
            own = (
                self.class_around(owner) if key.startswith(("self.", "cls.")) else None
            )
            # Two classes of a file may both have self.model.
            in_class = [v for o, v in assigned if own and self.class_around(o) == own]
            return in_class or [value for _, value in assigned]
        local = self._assigned.get((key, owner))
        if local is not None:
            return self.definitions.values_reaching(expression, local)
        around = (MODULE_LEVEL, *self.functions_around(owner))
        return [
            value for where in around for value in self._assigned.get((key, where), ())
        ]

    def representative(self, expression: ast.expr) -> ast.expr:
        """Return one name for all that mean the same in a function, whichever came first.

        A name that the function assigns stands for itself, and so does any other expression:
        what it means may depend on where it stands.
        """
        if not isinstance(expression, ast.Name):
            return expression
        key = (expression.id, self.owner(expression))
        if key in self._assigned or key[1] == LAMBDA:
            return expression
        return self._representatives.setdefault(key, expression)

    @cached_property
    def _representatives(self) -> dict[tuple[str, str], ast.expr]:
        return {}

    def class_around(self, owner: str) -> str:
        """Return the innermost class that a function is in; "" if it is in none."""
        parts = owner.split(".")
        names = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
        return next((name for name in names if name in self.classes), "")

    def methods_of(self, class_name: str) -> Iterator[tuple[str, Function]]:
        """Yield the methods of a class, each with its name."""
        for qualname, function in self.functions.items():
            owner, _, name = qualname.rpartition(".")
            if owner == class_name:
                yield name, function

    def functions_around(self, owner: str) -> list[str]:
        """Return the functions, no classes, in which a function is defined, the innermost first."""
        parts = owner.split(".")
        outer = (".".join(parts[:end]) for end in range(len(parts) - 1, 0, -1))
        return [each for each in outer if each in self.functions]

    def is_local(self, name: str, owner: str) -> bool:
        """True if a name is a function's own: a parameter, or assigned there."""
        if owner in (MODULE_LEVEL, LAMBDA) or "." in name:
            return False
        assigned = (name, owner) in self._assigned
        return assigned or name in self.functions[owner].parameters

    def defaults_of(self, name: ast.Name) -> list[ast.expr]:
        """Return the default of the parameter that a name is in its function."""
        function = self.functions.get(self.owner(name))
        if function is None:
            return []
        defaults = defaults_of(function.node)
        return [default for each, default in defaults if each == name.id]

    def values_at_top(self, name: str) -> list[ast.expr]:
        """Return the values that the file assigns to a name at module level."""
        return self._assigned.get((name, MODULE_LEVEL), [])

    @cached_property
    def _assigned(self) -> dict[tuple[str, str], list[ast.expr]]:
        """Return the values of ``assignments``, by name and function."""
        found: dict[tuple[str, str], list[ast.expr]] = {}
        for name, values in self.assignments.items():
            for where, value in values:
                found.setdefault((name, where), []).append(value)
        return found

    def origins(self, function: str, name: str) -> list[ast.expr]:
        """Return what a name or attribute is made from in a function.

        That is what it is assigned, iterates over, or what is added to it or set in it.
        """
        return self._origins.get((function, name), [])

    @cached_property
    def _origins(self) -> dict[tuple[str, str], list[ast.expr]]:
        found: dict[tuple[str, str], list[ast.expr]] = {}
        for node in self.nodes:
            targets, value = made_of(node)
            if isinstance(node, ast.Call) and node.args and grown_list(node):
                assert isinstance(node.func, ast.Attribute)
                targets, value = [node.func.value], node.args[-1]
            if value is not None:
                for name in _set_names(targets):
                    found.setdefault((self._owners[node], name), []).append(value)
        return found

    def entries_of(self, mapping: ast.expr) -> list[ast.Subscript]:
        """Return the places in its function that set an entry of ``mapping``."""
        name = dotted(mapping)
        return self._entries.get((name or "", self.owner(mapping)), [])

    @cached_property
    def _entries(self) -> dict[tuple[str, str], list[ast.Subscript]]:
        found: dict[tuple[str, str], list[ast.Subscript]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                key = (dotted(node.value) or "", self._owners[node])
                found.setdefault(key, []).append(node)
        return found

    def imports_module(self, *tops: str) -> Import | None:
        """Return the first import of one of these top-level packages."""
        return next(
            (
                i
                for i in self.imports.values()
                if i.level == 0 and i.module.split(".")[0] in tops
            ),
            None,
        )

    def qualified(self, expression: ast.expr) -> str | None:
        """Spell an expression from the module it is imported from.

        ``completion`` becomes ``litellm.completion`` after ``from litellm import
        completion``.
        """
        text = dotted(expression)
        if text is None:
            return None
        head, _, rest = text.partition(".")
        imported = self.imports.get(head)
        if imported is None or imported.level:
            return text
        start = (
            imported.module
            if imported.attribute is None
            else f"{imported.module}.{imported.attribute}"
        )
        if imported.attribute is None and imported.module.split(".")[0] == head:
            start = head
        return f"{start}.{rest}" if rest else start


def _set_names(targets: Iterable[ast.expr]) -> Iterator[str]:
    """Yield the names and attributes that targets set, whole or an entry of them."""
    for target in targets:
        while isinstance(target, ast.Subscript | ast.Starred):
            target = target.value
        if isinstance(target, ast.Tuple | ast.List):
            yield from _set_names(target.elts)
        elif (name := dotted(target)) is not None:
            yield name


def yielded_values(syntax: Syntax, qualname: str) -> list[ast.expr]:
    """Return what a generator yields; nothing of ``yield from``."""
    return [
        node.value
        for node in syntax.owned_by(qualname)
        if isinstance(node, ast.Yield) and node.value is not None
    ]


def return_values(syntax: Syntax, qualname: str) -> list[ast.expr]:
    return [
        node.value
        for node in syntax.owned_by(qualname)
        if isinstance(node, ast.Return) and node.value is not None
    ]


def is_guard(node: ast.AST) -> bool:
    """True for ``if __name__ == "__main__":``."""
    return isinstance(node, ast.If) and "__name__" in ast.dump(node.test)
