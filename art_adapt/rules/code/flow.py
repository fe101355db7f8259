"""Follow values: the expressions that an expression may stand for.

The rules ask one question of all code: what is this? ``Flow.values`` answers with the
expressions as somebody wrote them. It follows

- names, by the definitions that reach them (``definitions``), and imported constants
- both arms of a conditional, ``or``, tuples, comprehensions, entries of dicts
- attributes of ``self``, by what the methods of the class assign
- calls of the project's functions, by what they return (``functions``): their parameters
  are then what this call gives
- a parameter, by what the calls in its file give
- ``int(...)`` and ``float(...)`` of a constant, or of what ``os.getenv`` returns by default

What cannot be followed stands for itself. So a rule that looks for something asks whether
any value is that, and a rule that must be certain asks it of all values.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite

from art_adapt.code.classes import stored_by
from art_adapt.code.command_line import environment_default
from art_adapt.code.nodes import (
    Function,
    argument_of,
    defaults_of,
    dotted,
)
from art_adapt.code.reaching import Definition
from art_adapt.code.syntax import Syntax
from art_adapt.rules.code.functions import Functions
from art_adapt.rules.code.records import Records
from art_adapt.rules.code.values import Place, Value, constant, is_open

MOST = 24  # values of one expression; beyond these it stands for itself
# Functions that return what they are given, with the position of that argument.
SAME = {
    "cast": 1,
    "typing.cast": 1,
    "copy": 0,
    "copy.copy": 0,
    "deepcopy": 0,
    "copy.deepcopy": 0,
    "list": 0,
    "tuple": 0,
    "dict": 0,
    "asyncio.wait_for": 0,
    "asyncio.shield": 0,
    "asyncio.create_task": 0,
    "asyncio.ensure_future": 0,
}
NUMBERS: dict[str | None, Callable[[str | float], float]] = {"int": int, "float": float}
COPIES = ("copy", "model_copy")  # methods that return the same again


@dataclass(frozen=True)
class Flow:
    """The values of a file's expressions."""

    syntax: Syntax
    functions: Functions
    copies: bool = True  # whether a copy stands for what it copies
    callers: bool = True  # whether a parameter stands for what calls in its file give
    _found: dict[Value, tuple[Value, ...]] = field(default_factory=dict, init=False)
    # The calls of each name, in a file.
    _made: dict[Syntax, dict[str, list[Value]]] = field(
        default_factory=dict, init=False
    )

    @cached_property
    def records(self) -> Records:
        """Return what follows the attributes of objects that are made here."""
        return Records(self.functions, self.values)

    def here(self, expression: ast.expr | Value) -> Value:
        """Return an expression as a value, where it stands."""
        if isinstance(expression, Value):
            return expression
        return Value(expression, Place(self.functions.file_of(expression)))

    def values(self, expression: ast.expr | Value) -> tuple[Value, ...]:
        """Return the expressions that this one may stand for."""
        value = self.here(expression)
        if value not in self._found:
            self._found[value] = (value,)  # ends the recursion of x = x or y
            found: dict[Value, None] = {}
            for step in self.steps(value):
                followed = (value,) if step == value else self.values(step)
                found |= dict.fromkeys(followed)
                if len(found) > MOST:
                    break
            self._found[value] = tuple(found) if len(found) <= MOST else (value,)
        return self._found[value]

    def constants(self, expression: ast.expr | Value | None) -> frozenset[object]:
        """Return the constants that an expression may be; ``...`` is any other value."""
        if expression is None:
            return frozenset({...})
        return frozenset(constant(each) for each in self.values(expression))

    def definitions(self, value: Value) -> list[Definition]:
        """Return the definitions that reach a name."""
        if not isinstance(value.node, ast.Name):
            return []
        return value.syntax.definitions.reaching(value.node)

    def steps(self, value: Value) -> Iterator[Value]:
        """Yield what an expression stands for, one step on, or the expression itself."""
        node = value.node
        steps: Iterable[Value] = ()
        if isinstance(node, ast.Await | ast.NamedExpr | ast.Starred):
            steps = [value.of(node.value)]
        elif isinstance(node, ast.IfExp):
            steps = self._arms(value, node)
        elif isinstance(node, ast.BoolOp):
            steps = self._of_operands(value, node)
        elif isinstance(node, ast.BinOp) and not self.copies:
            steps = self._of_growth(value, node)
        elif isinstance(node, ast.Name):
            steps = self._of_name(value, node)
        elif isinstance(node, ast.Attribute):
            steps = self._of_attribute(value, node)
        elif isinstance(node, ast.Subscript):
            steps = self._of_subscript(value, node)
        elif isinstance(node, ast.Call):
            steps = self._of_call(value, node)
        found = False
        for step in steps:
            found = True
            yield step
        if not found:
            yield value

    def _arms(self, value: Value, node: ast.IfExp) -> Iterator[Value]:
        """Yield the arms of a conditional that may be taken, where it asks for None."""
        test, arms = node.test, [node.body, node.orelse]
        asks = (
            isinstance(test, ast.Compare)
            and isinstance(test.ops[0], ast.Is | ast.IsNot)
            and constant(value.of(test.comparators[0])) is None
        )
        if isinstance(test, ast.Compare) and asks:
            if isinstance(test.ops[0], ast.IsNot):
                arms.reverse()
            asked, none_arm, other_arm = test.left, arms[0], arms[1]
        else:
            asked, none_arm, other_arm = test, node.orelse, node.body
        found = self.values(value.of(asked)) if asks else ()
        none = [constant(each) is None for each in found]
        known = bool(found) and not any(isinstance(f.node, ast.Name) for f in found)
        if not (known and not any(none)):
            yield value.of(none_arm)
        if found and all(none):
            return
        same = ast.dump(other_arm) == ast.dump(asked)
        for each in self.values(value.of(other_arm)) if same else ():
            if constant(each) is not None:
                yield each
        if not same:
            yield value.of(other_arm)

    def _of_operands(self, value: Value, node: ast.BoolOp) -> Iterator[Value]:
        """Follow ``x or y``, which is x only if that is true."""
        for operand in node.values[:-1]:
            for each in self.values(value.of(operand)):
                if (
                    isinstance(node.op, ast.And)
                    or constant(each) is ...
                    or constant(each)
                ):
                    yield each
        yield value.of(node.values[-1])

    def _of_growth(self, value: Value, node: ast.BinOp) -> Iterator[Value]:
        """Follow ``x += y``, which leaves a list the object that it was."""
        statement = value.syntax.parents.get(node)
        if isinstance(statement, ast.AugAssign) and statement.value is not node:
            yield value.of(node.left)

    def _of_name(self, value: Value, name: ast.Name) -> Iterator[Value]:
        for definition in self.definitions(value):
            if isinstance(definition.node, ast.arg):
                yield from self._given(value, definition.node)
            elif isinstance(definition.node, ast.ImportFrom):
                yield self._imported(value, name)
            elif definition.value is None:
                yield value
            else:
                yield value.of(definition.value)

    def _imported(self, value: Value, name: ast.Name) -> Value:
        """Follow a constant that another file of the project defines, once."""
        found = self.functions.imported(value.syntax, name.id)
        written = [] if found is None else found[0].assignments.get(found[1], [])
        if found is None or len(written) != 1:
            return value
        return Value(written[0][1], Place(found[0]))

    def _given(self, value: Value, parameter: ast.arg) -> Iterator[Value]:
        """Follow a parameter to what its calls give."""
        function = self.functions.taking(value.syntax, parameter)
        if function is None:
            yield value
            return
        frame = value.place.frame
        if frame is not None and frame.function == function:
            calls = [Value(frame.call, frame.outer)]
        else:
            at = Place(value.syntax)
            of_file = self.functions.calls_of(value.syntax, function)
            made = of_file if self.callers else []
            calls = [Value(call, at) for call in made]
        for call in calls:
            yield self._given_by(call, function, parameter, value) or value
        default = dict(defaults_of(function.node)).get(parameter.arg)
        if calls and frame is None and isinstance(default, ast.Constant):
            yield Value(default, Place(value.syntax))  # other files may leave it out
        if not calls:
            # Settings that nobody gives here are those that the file would run with.
            is_made = isinstance(default, ast.Call)
            at = Place(value.syntax)
            yield Value(default, at) if default is not None and is_made else value

    def _given_by(
        self, call: Value, function: Function, parameter: ast.arg, value: Value
    ) -> Value | None:
        assert isinstance(call.node, ast.Call)
        given = argument_of(call.node, parameter.arg, function.positional)
        if given is not None:
            return call.of(given)
        default = dict(defaults_of(function.node)).get(parameter.arg)
        if default is None or is_open(call.node):
            return None
        return Value(default, Place(value.syntax))

    def _of_attribute(self, value: Value, node: ast.Attribute) -> Iterator[Value]:
        if (body := self.functions.read(value)) is not None:
            yield from body.returns()
            return
        if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
            within = value.syntax.class_around(value.syntax.owner(node))
            stored = [*stored_by(value.syntax, within, node.attr)]
            for each in stored:
                yield Value(each, Place(value.syntax))
            for owner in () if stored else self.objects(value.of(node.value)):
                field = self.records.field_of(owner, node.attr)
                yield from [] if field is None else [field]
            return
        for owner in self.values(value.of(node.value)):
            if constant(owner) is None:
                continue  # it has no attributes
            known = self.records.items_of(owner, node.attr) or self.records.field_of(
                owner, node.attr
            )
            known = known or self.records.member_of(owner, node.attr)
            assigned = self.records.assigned_to(owner, node.attr)
            yield from [known] if known else [*assigned] or [value]

    def _called_on(self, value: Value) -> tuple[Value, ...]:
        """Return the objects that ``self`` may be, by the call that entered the method."""
        frame = value.place.frame
        if frame is None or not isinstance(frame.call.func, ast.Attribute):
            return ()
        called = frame.call.func
        is_object = frame.function.node.name == "__call__" != called.attr
        owner = Value(called if is_object else called.value, frame.outer)
        is_self = dotted(owner.node) == "self" and frame.outer.frame is not None
        return self._called_on(owner) if is_self else self.values(owner)

    def objects(self, value: Value) -> tuple[Value, ...]:
        """Return how the objects that a value may be are made.

        ``self`` is what the method was called on; where no call is known, any of its class that
        the file makes.
        """
        if dotted(value.node) not in ("self", "cls"):
            return self.values(value)
        if value.place.frame is not None:
            return self._called_on(value)
        syntax = value.syntax
        within = syntax.class_around(syntax.owner(value.node))
        made = self._made.get(syntax)
        if made is None:
            made = self._made[syntax] = {}
            for node in syntax.nodes:
                if isinstance(node, ast.Call) and (name := dotted(node.func)):
                    made.setdefault(name, []).append(Value(node, Place(syntax)))
        return tuple(made.get(within, ()))

    def _of_subscript(self, value: Value, node: ast.Subscript) -> Iterator[Value]:
        if isinstance(node.slice, ast.Slice):
            return
        index = constant(value.of(node.slice))
        counted = self._counted(value, node, index)
        if counted is not None:
            yield counted
            return
        for owner in self.values(value.of(node.value)):
            entries = tuple(self._entries(owner, index))
            if not entries and isinstance(owner.node, ast.Dict):
                entries = self._under(owner, self.constants(value.of(node.slice)))
            yield from entries or (value,)

    def _under(self, owner: Value, keys: frozenset[object]) -> tuple[Value, ...]:
        """Return what a display has under some keys; under any where one is unknown."""
        display = owner.node
        assert isinstance(display, ast.Dict)
        if None in display.keys:
            return ()
        return tuple(
            owner.of(entry)
            for key, entry in zip(display.keys, display.values, strict=True)
            if key is not None and (... in keys or constant(owner.of(key)) in keys)
        )

    def _counted(
        self, value: Value, node: ast.Subscript, index: object
    ) -> Value | None:
        """Return an element of what ``enumerate`` or ``zip`` goes through."""
        pair = node.value
        call = pair.value if isinstance(pair, ast.Subscript) else None
        if not isinstance(call, ast.Call) or not isinstance(index, int):
            return None
        name = dotted(call.func)
        at = {"enumerate": index - 1, "zip": index}.get(name or "", -1)
        if not 0 <= at < len(call.args):
            return None
        made = ast.Subscript(call.args[at], ast.Constant(...), ast.Load())
        value.syntax.adopt(ast.copy_location(made, call), call)
        return value.of(made)

    def _entries(self, owner: Value, index: object) -> Iterator[Value]:
        """Yield what an index gives; any element where the index is ``...``."""
        inner = owner.node
        if isinstance(inner, ast.Tuple | ast.List):
            if any(isinstance(each, ast.Starred) for each in inner.elts):
                return
            if index is ...:
                yield from map(owner.of, inner.elts)
            elif isinstance(index, int) and -len(inner.elts) <= index < len(inner.elts):
                yield owner.of(inner.elts[index])
        elif isinstance(inner, ast.ListComp | ast.GeneratorExp | ast.SetComp):
            yield owner.of(inner.elt)
        elif isinstance(inner, ast.Dict) and isinstance(index, str):
            for key, entry in zip(inner.keys, inner.values, strict=True):
                if key is not None and constant(owner.of(key)) == index:
                    yield owner.of(entry)
        elif isinstance(inner, ast.Call) and len(inner.args) == 1:
            gathered = inner.args[0]
            if (dotted(inner.func) or "").endswith("gather") and isinstance(
                gathered, ast.Starred
            ):
                for each in self.values(owner.of(gathered.value)):
                    yield from self._entries(each, index)
        if isinstance(inner, ast.Call) and index is ...:
            body = self.functions.enter(owner)
            if body is not None:
                yield from body.yields()

    def _looked_up(self, value: Value, call: ast.Call) -> list[Value] | None:
        """Return what ``table.get(key, default)`` may give, where the table is a display."""
        function = call.func
        if not isinstance(function, ast.Attribute) or function.attr != "get":
            return None
        if not 1 <= len(call.args) <= 2 or call.keywords:
            return None
        tables = self.values(value.of(function.value))
        if not all(isinstance(each.node, ast.Dict) for each in tables):
            return None
        keys = self.constants(value.of(call.args[0]))
        found = [entry for each in tables for entry in self._under(each, keys)]
        known = ... not in keys and len(found) == len(keys) * len(tables)
        default = call.args[1] if len(call.args) == 2 else ast.Constant(None)
        return found if known else [*found, value.of(default)]

    def _number(self, value: Value, call: ast.Call) -> Value | None:
        """Return the number that ``int("1")`` makes, of what the environment sets by default too."""
        name = dotted(call.func)
        if name not in NUMBERS or len(call.args) != 1:
            return None
        inner = call.args[0]
        said = self.constants(value.of(environment_default(inner) or inner))
        with suppress(ValueError, TypeError):
            (only,) = said
            if isinstance(only, str | int | float):
                number = NUMBERS[name](only)
                if isfinite(number):  # float("nan") is a value that rules look for
                    made = ast.copy_location(ast.Constant(number), call)
                    value.syntax.adopt(made, call)
                    return value.of(made)
        return None

    def _of_call(self, value: Value, call: ast.Call) -> Iterator[Value]:
        if (number := self._number(value, call)) is not None:
            yield number
            return
        copied = _copied(call)
        if copied is not None:
            yield value.of(copied) if self.copies else value
            return
        if (looked_up := self._looked_up(value, call)) is not None:
            yield from looked_up
            return
        body = self.functions.enter(value)
        if body is not None:
            yield from body.returns()


def _copied(node: ast.expr) -> ast.expr | None:
    """Return what an expression copies, None if it is no copy."""
    if isinstance(node, ast.Starred | ast.Await | ast.NamedExpr):
        return node.value
    if not isinstance(node, ast.Call):
        return None
    name = dotted(node.func) or ""
    if name in SAME and len(node.args) > SAME[name]:
        return node.args[SAME[name]]
    if isinstance(node.func, ast.Attribute) and node.func.attr in COPIES:
        return node.func.value
    return None
