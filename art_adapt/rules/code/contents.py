"""Find what a mapping has under a key, and what a list holds.

Both are looked for where the container is used: in displays and copies, in what is put
together, and in what statements of the function have stored or added before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from art_adapt.code.nodes import dotted, entries, given_to, keyword, last_name
from art_adapt.code.syntax import Syntax
from art_adapt.rules.code.flow import Flow
from art_adapt.rules.code.values import Body, Place, Value, constant, is_open
from art_adapt.words import DUMPS_DICT, GROWS_LIST

TYPED_DICTS = ("InternalModelConfig", "InitArgs", "EngineArgs", "PeftArgs")  # art.dev
LAYERS = ("ChainMap", "MappingProxyType")  # show mappings, the first on top
FIELDS = ("asdict", "dataclasses.asdict", "vars")  # make a dict of an object's fields
ByName = dict[tuple[str, str], list[ast.Call]]


@dataclass(frozen=True)
class Item:
    """The values of a key. ``known``: no part of the mapping is out of sight.

    ``written`` has them before they are followed.
    """

    values: tuple[Value, ...] = ()
    known: bool = True
    written: tuple[Value, ...] = ()

    def over(self, earlier: Item) -> Item:
        """Return what is found when this is put on top of ``earlier``."""
        return (
            self if self.values else Item(earlier.values, self.known, earlier.written)
        )


@dataclass(frozen=True)
class Contents:
    """The contents of the mappings and lists of a file."""

    flow: Flow
    _items: dict[tuple[Value, str], Item] = field(default_factory=dict, init=False)
    _method_calls: dict[tuple[Syntax, tuple[str, ...]], ByName] = field(
        default_factory=dict, init=False
    )

    def item(self, mapping: ast.expr | Value, key: str) -> Item:
        """Return the values of a key in a mapping.

        Displays, ``dict(...)``, ``|`` and ``**`` are followed, and what later statements
        of the same function store there.
        """
        value = self.flow.here(mapping)
        if (value, key) not in self._items:
            self._items[value, key] = Item(known=False)  # ends d = {**d}
            self._items[value, key] = self._item_of(value, key)
        return self._items[value, key]

    def given(self, call: ast.Call, name: str) -> ast.expr | None:
        """Return what a call gives under a name, in ``**fields`` as well, if it is one thing."""
        if (value := keyword(call, name)) is not None:
            return value
        for mapping in (each.value for each in call.keywords if each.arg is None):
            written = self.item(mapping, name).written
            if len(written) == 1 and written[0].syntax is self.flow.syntax:
                return written[0].node
        return None

    def may_give(self, call: ast.Call, name: str) -> bool:
        """Return whether a part of ``**fields`` that cannot be seen may give a name."""
        return any(
            each.arg is None and not self.item(each.value, name).known
            for each in call.keywords
        )

    def arguments(self, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
        """Yield what a call gives by name, and in the displays that ``**fields`` may be.

        Of ``**asdict(settings)`` it is what the class writes as the field's default.
        """
        for each in call.keywords:
            if each.arg is not None:
                yield each.arg, each.value
                continue
            for made in self._displays(self.flow.here(each.value)):
                here = made.syntax is self.flow.syntax
                for name, value in entries(made.node).items():
                    if self.item(
                        each.value, name
                    ).written:  # nothing takes it out again
                        yield name, value if here else each.value
                for name, default in self._fields(made):
                    is_here = default is not None and self.flow.syntax.has(default)
                    yield name, default if default and is_here else each.value

    def _fields(self, made: Value) -> Iterator[tuple[str, ast.expr | None]]:
        """Yield the fields of the object that ``asdict(settings)`` makes a dict of."""
        call = made.node
        if not isinstance(call, ast.Call) or (record := _record_of(call)) is None:
            return
        if [*given_to(call)] not in ([], [record]):
            return  # perhaps not all of them
        for value in self.flow.values(made.of(record)):
            for statement in self._class_of(value):
                if isinstance(statement, ast.AnnAssign):
                    yield dotted(statement.target) or "", statement.value

    def _class_of(self, made: Value) -> list[ast.stmt]:
        """Return the body of the class of an object: of ``self``, or of what is made here."""
        syntax = made.syntax
        if dotted(made.node) == "self":
            around = syntax.class_around(syntax.owner(made.node))
            return syntax.classes[around].body if around else []
        if not isinstance(made.node, ast.Call):
            return []
        found = self.flow.functions.class_of(syntax, made.node.func)
        return [] if found is None else found[1].body

    def entries(self, mapping: ast.expr) -> Iterator[tuple[ast.expr, Value]]:
        """Yield the values in the displays that a mapping may be, each with where to report it."""
        for value in self.flow.values(mapping):
            display = (
                value.node if isinstance(value.node, ast.Dict) else ast.Dict([], [])
            )
            here = value.place == Place(self.flow.syntax)
            for key, each in zip(display.keys, display.values, strict=True):
                if key is not None:
                    yield (each if here else mapping), value.of(each)

    def _item_of(self, value: Value, key: str) -> Item:
        rest = self._of_rest(value, key)
        if rest is not None:
            return rest
        written = list(self._stored(value, key))
        found = {each: None for w in written for each in self.flow.values(w)}
        known = True
        absent = False
        for item in self._parts(value, key):
            written += item.written
            found |= dict.fromkeys(item.values)
            known = known and item.known
            absent = absent or (item.known and not item.values)
        if self._is_removed(value, key):
            return Item(known=False)
        if found and absent and not self._is_stored(value, key):
            found[value] = None  # one of several mappings does not have it
        return Item(tuple(found), known, tuple(dict.fromkeys(written)))

    def _parts(self, value: Value, key: str) -> Iterator[Item]:
        """Yield what a key has in each mapping that a value may be.

        Of a function's result that is a name, with what the function has stored there.
        """
        made = self._made(value)
        body = None if _is_dict(made.node) else self.flow.functions.enter(made)
        for each in (value,) if body is None else body.returns():
            if each is not value and isinstance(each.node, ast.Name):
                yield self.item(each, key)
            else:
                yield from (self._item(made, key) for made in self._displays(each))

    def _made(self, value: Value) -> Value:
        """Return the only call that a name is assigned, or else the value."""
        definitions = self.flow.definitions(value)
        made = definitions[0].value if len(definitions) == 1 else None
        return value.of(made) if isinstance(made, ast.Call) else value

    def _is_stored(self, value: Value, key: str) -> bool:
        return next(iter(self._stored(value, key)), None) is not None

    def _is_removed(self, value: Value, key: str) -> bool:
        """Return whether a statement of the function takes a key out of a named mapping."""
        name = dotted(value.node)
        if name is None:
            return False
        owner = value.syntax.owner(value.node)
        popped = self._calls_in(value.syntax, "pop").get((owner, name), ())
        return any(
            call.args and constant(value.of(call.args[0])) == key for call in popped
        ) or any(
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Del)
            and dotted(node.value) == name
            for node in value.syntax.owned_by(owner)
        )

    def _of_rest(self, value: Value, key: str) -> Item | None:
        """Return what a call gives under a key of the function's ``**rest``."""
        frame = value.place.frame
        rest = None if frame is None else frame.function.node.args.kwarg
        if frame is None or rest is None or is_open(frame.call):
            return None
        if not any(each.node is rest for each in self.flow.definitions(value)):
            return None
        given = keyword(frame.call, key)
        if given is None or key in frame.function.given:
            return Item()
        return self._given(Value(given, frame.outer))

    def _given(self, written: Value) -> Item:
        return Item(self.flow.values(written), written=(written,))

    def _displays(self, value: Value) -> Iterator[Value]:
        """Yield the expressions that make a mapping; a call of ``dict`` is one."""
        if _is_dict(value.node):
            yield value
            return
        for definition in self.flow.definitions(value):
            if definition.value is not None and _is_dict(definition.value):
                yield value.of(definition.value)
                return
        yield from self.flow.values(value)

    def _item(self, value: Value, key: str) -> Item:
        node = value.node
        item = Item()
        if isinstance(node, ast.Dict):
            for name, given in zip(node.keys, node.values, strict=True):
                if name is None:
                    item = self.item(value.of(given), key).over(item)
                elif key in self.flow.constants(value.of(name)):
                    item = self._given(value.of(given))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            left = self.item(value.of(node.left), key)
            item = self.item(value.of(node.right), key).over(left)
        elif isinstance(node, ast.Call) and last_name(node.func) in LAYERS:
            for layer in reversed(node.args):
                item = self.item(value.of(layer), key).over(item)
        elif isinstance(node, ast.Call) and _is_dict(node):
            if node.args:
                item = self.item(value.of(node.args[0]), key)
            for each in node.keywords:
                if each.arg == key:
                    item = self._given(value.of(each.value))
                elif each.arg is None:
                    item = self.item(value.of(each.value), key).over(item)
        elif isinstance(node, ast.Call) and (record := _record_of(node)) is not None:
            records = self.flow.objects(value.of(record))
            fields = [self.flow.records.field_of(record, key) for record in records]
            known = [field for field in fields if field is not None]
            found = [each for field in known for each in self.flow.values(field)]
            item = Item(tuple(found), known=False, written=tuple(known))
        elif not isinstance(node, ast.Constant):
            item = Item(known=False)
        return item

    def _stored(self, value: Value, key: str) -> Iterator[Value]:
        """Yield what statements of the function store in the mapping of a name, as written."""
        name = dotted(value.node)
        if name is None:
            return
        for entry in value.syntax.entries_of(value.node):
            statement = value.syntax.parents.get(entry)
            at = constant(value.of(entry.slice))
            before = entry.lineno < value.node.lineno or any(
                loop in value.syntax.ancestors(value.node)
                for loop in value.syntax.enclosing_loops(entry)
            )
            if at == key and isinstance(statement, ast.Assign) and before:
                yield value.of(statement.value)
        owner = value.syntax.owner(value.node)
        for call in self._calls_in(value.syntax, "update").get((owner, name), ()):
            given = keyword(call, key)
            if given is not None:
                yield value.of(given)
            elif call.args:
                yield from self.item(value.of(call.args[0]), key).written

    def _calls_in(self, syntax: Syntax, *methods: str) -> ByName:
        """Return the calls of these methods, by the function and the name of the object."""
        if (syntax, methods) not in self._method_calls:
            found: ByName = {}
            for node in syntax.nodes:
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    name = dotted(node.func.value)
                    if node.func.attr in methods and name is not None:
                        key = (syntax.owner(node), name)
                        found.setdefault(key, []).append(node)
            self._method_calls[syntax, methods] = found
        return self._method_calls[syntax, methods]

    def elements(self, expression: ast.expr | Value) -> Iterator[Value]:
        """Yield the expressions that a list holds where it is used.

        Displays, ``+``, ``*``, copies and names are followed, and what was added to a name
        before. A part that cannot be seen is an ``ast.Starred``.
        """
        yield from self._elements(self.flow.here(expression), set())

    def _elements(self, value: Value, seen: set[Value]) -> Iterator[Value]:
        if value in seen:
            return
        seen.add(value)
        node = value.node
        parts: list[ast.expr] = []
        if isinstance(node, ast.List | ast.Tuple):
            parts = node.elts
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            for side in (node.left, node.right):
                yield from self._elements(value.of(side), seen)
        elif isinstance(node, ast.ListComp | ast.GeneratorExp):
            parts = [node.elt]
        elif (body := self._mapped(value)) is not None:
            yield from body.returns()
        else:
            for part in self._added(value):
                if isinstance(part.node, ast.Starred):
                    yield from self._elements(part.of(part.node.value), seen)
                else:
                    yield part
            for step in self.flow.steps(value):
                if step == value:
                    yield value.of(ast.Starred(node, ast.Load()))
                else:
                    yield from self._elements(step, seen)
        for part in map(value.of, parts):
            if isinstance(part.node, ast.Starred):
                yield from self._elements(part.of(part.node.value), seen)
            else:
                yield part

    def _mapped(self, value: Value) -> Body | None:
        """Return the function that ``map(function, items)`` calls for each item."""
        match value.node:
            case ast.Call(func=ast.Name("map"), args=[function, _]):
                return self.flow.functions.handed(value.of(function))
        return None

    def _added(self, value: Value) -> Iterator[Value]:
        """Yield what the function adds to a named list before it is used there."""
        node = value.node
        name = dotted(node)
        if name is None:
            return
        owner = value.syntax.owner(node)
        for call in self._calls_in(value.syntax, *GROWS_LIST).get((owner, name), ()):
            if call.args and call.lineno < node.lineno:
                assert isinstance(call.func, ast.Attribute)
                added = call.args[-1]
                if call.func.attr == "extend":
                    added = ast.Starred(added, ast.Load())
                yield value.of(added)


def _record_of(call: ast.Call) -> ast.expr | None:
    """Return the object whose fields a call makes a dict of."""
    if (dotted(call.func) or "") in FIELDS and len(call.args) == 1:
        return call.args[0]
    if isinstance(call.func, ast.Attribute) and call.func.attr in DUMPS_DICT:
        return call.func.value
    return None


def _is_dict(node: ast.expr) -> bool:
    """Return whether it calls ``dict``, or one of ART's typed dictionaries."""
    return isinstance(node, ast.Call) and (
        dotted(node.func) == "dict" or last_name(node.func) in TYPED_DICTS
    )
