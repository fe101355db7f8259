"""Find what an object keeps under a name: what it was made with, or what its class says."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from art_adapt.code.nodes import (
    argument_of,
    dotted,
    entries,
    keyword,
    last_name,
    targets_of,
)
from art_adapt.code.syntax import Syntax
from art_adapt.rules.code.functions import Functions
from art_adapt.rules.code.values import Place, Value, constant, is_open


@dataclass(frozen=True)
class Records:
    """The objects that a file makes; ``values`` follows an expression to what it stands for."""

    functions: Functions
    values: Callable[[Value], tuple[Value, ...]]
    _set: dict[Syntax, frozenset[str]] = field(default_factory=dict, init=False)

    def field_of(self, record: Value, name: str) -> Value | None:
        """Return the field of an object that is made here: given, or the class's default.

        Only of classes of the project that have no ``__init__``, such as dataclasses, and of
        a ``SimpleNamespace``.
        """
        made = record.node
        if not isinstance(made, ast.Call) or name in self._set_later(record.syntax):
            return None
        if "setattr(" in record.syntax.source.text:
            return None
        found = self.functions.class_of(record.syntax, made.func)
        is_plain = record.syntax.qualified(made.func) == "types.SimpleNamespace"
        if found is None and not is_plain:
            return None
        if is_open(made):
            return self._given_whole(record, made, name)
        fields = {} if found is None else _fields(found[1])
        inherits = found is not None and any(
            self.functions.class_made(found[0], base) for base in found[1].bases
        )
        if inherits and made.args:
            return None
        given = argument_of(made, name, list(fields))
        if given is not None:
            return record.of(given)
        default = fields.get(name)
        return (
            None
            if default is None or found is None
            else Value(default, Place(found[0]))
        )

    def _given_whole(self, record: Value, made: ast.Call, name: str) -> Value | None:
        """Return what a record is given by name, itself or in the displays of ``**settings``."""
        if made.args:
            return None
        found: Value | None = None
        for each in made.keywords:
            if each.arg == name:
                return record.of(each.value)
            for mapping in () if each.arg else self.values(record.of(each.value)):
                if not isinstance(mapping.node, ast.Dict | ast.Call):
                    return None
                if (held := entries(mapping.node).get(name)) is not None:
                    found = mapping.of(held)
        return found

    def member_of(self, member: Value, name: str) -> Value | None:
        """Return the ``value`` of a member of an enumeration of the project."""
        node = member.node
        if name != "value" or not isinstance(node, ast.Attribute):
            return None
        found = self.functions.class_of(member.syntax, node.value)
        if found is None or not any(
            last_name(base).endswith(("Enum", "Flag")) for base in found[1].bases
        ):
            return None
        written = (
            each.value
            for each in found[1].body
            if node.attr in map(dotted, targets_of(each))
            and isinstance(each, ast.Assign | ast.AnnAssign)
        )
        value = next(written, None)
        return None if value is None else Value(value, Place(found[0]))

    def assigned_to(self, made: Value, name: str) -> Iterator[Value]:
        """Yield what the class of an object that is made here assigns to an attribute.

        Only where that is nothing but objects of ART, or another attribute: what else an object
        keeps may change.
        """
        call = made.node
        if not isinstance(call, ast.Call) or name in self._set_later(made.syntax):
            return
        if (found := self.functions.class_made(made.syntax, call.func)) is None:
            return
        syntax, owner = found
        values = [
            value
            for where, value in syntax.assignments.get(f"self.{name}", ())
            if syntax.class_around(where) == owner
            and constant(Value(value, Place(syntax))) is not None
        ]
        made_of = [each.func if isinstance(each, ast.Call) else each for each in values]
        of_art = [(syntax.qualified(e) or "").startswith("art.") for e in made_of]
        of_own = [(dotted(each) or "").startswith("self.") for each in values]
        if all(of_art) or (len(values) == 1 and all(of_own)):
            yield from (Value(value, Place(syntax)) for value in values)

    def items_of(self, batch: Value, name: str) -> Value | None:
        """Return the dataset that ``batch.items`` is a part of, for ART's batches."""
        made = batch.node.value if isinstance(batch.node, ast.Subscript) else None
        if name != "items" or not isinstance(made, ast.Call):
            return None
        called = batch.syntax.qualified(made.func) or ""
        if not called.startswith("art.") or not called.endswith(".iterate_dataset"):
            return None
        given = argument_of(made, "dataset", ("dataset",))
        return None if given is None else batch.of(given)

    def _set_later(self, syntax: Syntax) -> frozenset[str]:
        """Return the attributes that a file sets on objects other than self."""
        if syntax not in self._set:
            self._set[syntax] = frozenset(
                node.attr
                for node in syntax.nodes
                if isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and dotted(node.value) != "self"
            )
        return self._set[syntax]


def _fields(definition: ast.ClassDef) -> dict[str, ast.expr | None]:
    """Return the fields of a class in their order, each with its default."""
    return {
        statement.target.id: _default_of(statement.value)
        for statement in definition.body
        if isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and last_name(getattr(statement.annotation, "value", statement.annotation))
        != "ClassVar"
    }


def _default_of(value: ast.expr | None) -> ast.expr | None:
    """Return the default of a field: of ``field(default=1)``, or the value itself."""
    if not isinstance(value, ast.Call) or last_name(value.func) != "field":
        return value
    if keyword(value, "default_factory") is not None:
        return value
    return keyword(value, "default")
