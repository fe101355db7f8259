"""Tell which part of a completion an expression is, and which call sampled it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from enum import StrEnum

from art_adapt.code.nodes import (
    FunctionNode,
    attribute_of,
    dotted,
    keyword,
    last_name,
)
from art_adapt.rules.code.blocks import Blocks, below
from art_adapt.rules.code.completions import Completions
from art_adapt.rules.code.file import File
from art_adapt.rules.code.trajectories import Put
from art_adapt.rules.code.values import Value, constant
from art_adapt.words import DUMPS_DICT, DUMPS_TEXT, STRIPS

DUMPING = (*DUMPS_DICT, *DUMPS_TEXT)
MOST = 60  # expressions that are looked through for a completion call
CONVERTING = "convert_litellm_choice_to_openai"  # art.utils.litellm
UNCHANGING = (*DUMPING, *STRIPS, "model_copy")


class Kind(StrEnum):
    """The parts of a completion that are told apart."""

    CHOICE = "choice"
    MESSAGE = "message"
    DUMPED_CHOICE = "dumped choice"
    DUMPED_MESSAGE = "dumped message"
    TEXT = "text"


@dataclass(frozen=True)
class Sampled:
    """The expressions of a file that hold what a model has sampled."""

    file: File
    completions: Completions
    _kinds: dict[Value, Kind | None] = field(default_factory=dict, init=False)

    def is_choice(self, expression: ast.expr | Value) -> bool:
        return self.kind(expression) is Kind.CHOICE

    def kind(self, expression: ast.expr | Value) -> Kind | None:
        """Return which part of a completion an expression is, None if uncertain."""
        kinds = {
            self._kind_as_written(value)
            for value in self.file.values(expression)
            if not _is_default(value)
        }
        return kinds.pop() if len(kinds) == 1 else None

    def _kind_as_written(self, value: Value) -> Kind | None:
        if value not in self._kinds:
            self._kinds[value] = None  # ends the recursion of a name made from itself
            self._kinds[value] = self._kind_of(value)
        return self._kinds[value]

    def _kind_of(self, value: Value) -> Kind | None:
        node = value.node
        if isinstance(node, ast.Subscript):
            read = attribute_of(node.value)
            is_one = read is not None and read[1] == "choices"
            is_one = is_one and not isinstance(node.slice, ast.Slice)
            return Kind.CHOICE if is_one else None
        if (read := attribute_of(node)) is not None:
            inner = self.kind(value.of(read[0]))
            if inner is Kind.CHOICE and read[1] == "message":
                return Kind.MESSAGE
            if inner is Kind.MESSAGE and read[1] == "content":
                return Kind.TEXT
        elif isinstance(node, ast.Call):
            return self._kind_of_call(value, node)
        elif (dumped := _made_of(node)) is not None:
            inner = self.kind(value.of(dumped))
            return inner if inner in (Kind.DUMPED_CHOICE, Kind.DUMPED_MESSAGE) else None
        return None

    def _kind_of_call(self, value: Value, call: ast.Call) -> Kind | None:
        name = last_name(call.func)
        if name in ("str", CONVERTING) and call.args:
            return self.kind(value.of(call.args[0]))
        if not isinstance(call.func, ast.Attribute):
            return None
        inner = self.kind(value.of(call.func.value))
        if call.func.attr in DUMPING:
            if inner is Kind.CHOICE:
                return Kind.DUMPED_CHOICE
            if inner is Kind.MESSAGE:
                return Kind.DUMPED_MESSAGE
        return inner if inner is Kind.TEXT and call.func.attr in STRIPS else None

    def are_tool_calls(self, expression: ast.expr) -> bool:
        """Return whether it is a turn's list of tool calls, also when enumerated."""
        if isinstance(expression, ast.Call) and dotted(expression.func) == "enumerate":
            given = expression.args[0] if expression.args else None
            expression = given or keyword(expression, "iterable") or expression
        read = (attribute_of(value.node) for value in self.file.values(expression))
        return any(each is not None and each[1] == "tool_calls" for each in read)

    def cut(self, node: ast.AST) -> ast.expr | None:
        """Return the list of which an expression takes the first item, or the first few.

        That is ``calls[0]``, ``calls[:2]``, ``next(iter(calls), None)``, or ``calls`` in
        ``call, *_ = calls``; also of ``calls or ()``.
        """
        match node:
            case ast.Subscript(value=several, slice=at, ctx=ast.Load()):
                first = self.file.constant(at) == 0
                if isinstance(at, ast.Slice):
                    first = at.upper is not None and at.lower is None
                return several if first else None
            case ast.Call(
                func=ast.Name("next"),
                args=[ast.Call(func=ast.Name("iter"), args=[each]), *_],
            ):
                match each:
                    case ast.BoolOp(op=ast.Or(), values=[several, _]):
                        return several
                return each
        statement = self.file.syntax.parents.get(node)
        if isinstance(statement, ast.Assign) and isinstance(node, ast.expr):
            match statement.targets:
                case [
                    ast.Tuple(elts=[ast.Name(), ast.Starred(value=ast.Name(id=rest))])
                ]:
                    return None if self.file.reads(rest, node) else node
        return None

    def sources(self, expression: ast.expr | Value) -> frozenset[ast.Call | None]:
        """Return the calls that a value may come from; None is an unknown one."""
        return frozenset(
            each.node if each is not None and isinstance(each.node, ast.Call) else None
            for each in self.sourced(expression)
        )

    def sourced(self, expression: ast.expr | Value) -> frozenset[Value | None]:
        """Return the ``sources`` as values, which know through which calls they are reached."""
        return frozenset(self._sources(self.file.flow.here(expression), set()))

    def _sources(self, value: Value, seen: set[Value]) -> set[Value | None]:
        found: set[Value | None] = set()
        for each in self.file.values(value):
            node = each.node
            inner: ast.expr | None = None
            if (read := attribute_of(node)) is not None:
                inner = read[0]
            elif isinstance(node, ast.Subscript):
                inner = node.value
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                inner = node.func.value if node.func.attr in UNCHANGING else None
            elif isinstance(node, ast.Call) and dotted(node.func) == CONVERTING:
                inner = node.args[0] if node.args else None
            if inner is not None and each not in seen:
                seen.add(each)
                found |= self._sources(each.of(inner), seen)
            elif inner is None and not _is_default(each):
                found.add(each if isinstance(node, ast.Call) else None)
        return found

    def before_record(self, put: Put) -> list[ast.stmt]:
        """Return the statements of a block between a completion and the put of its choice.

        None if both do not stand in one block, or it cannot be told where the model is asked.
        """
        asked = {
            source.outermost
            for source in self.sourced(put.value)
            if source is not None and source.node in self.completions.by_call
        }
        block = Blocks(self.file.syntax).around(put.by)
        inside = [set(ast.walk(statement)) for statement in block]
        asking = [i for i, nodes in enumerate(inside) if not nodes.isdisjoint(asked)]
        putting = [i for i, nodes in enumerate(inside) if put.by in nodes]
        if len(asking) != 1 or not putting:
            return []
        return block[asking[0] + 1 : putting[0]]

    def by_another_model(self, expression: ast.expr | Value) -> bool:
        """Return whether it certainly was sampled from models that are not trained."""
        known = self.completions.by_call
        calls = self.sources(expression)
        return bool(calls) and all(
            call is not None
            and call in known
            and not self.completions.may_be_trained(known[call])
            for call in calls
        )

    def is_for_another_model(self, node: ast.AST) -> bool:
        """Return whether its branch is for a model that is not trained.

        Another branch of the ``if`` records a Choice, or asks for ``model.trainable``: this
        one needs no tokens.
        """
        puts = self.completions.trajectories.puts
        inner = node
        for outer in self.file.syntax.ancestors(node):
            if isinstance(outer, ast.If):
                ours = outer.body if inner in outer.body else outer.orelse
                other = outer.orelse if ours is outer.body else outer.body
                nodes = set(below(other))
                if any(p.by in nodes and self.is_choice(p.value) for p in puts):
                    return True
                if "trainable" in ast.unparse(outer.test):
                    return True
            elif isinstance(outer, FunctionNode):
                return False
            inner = outer
        return False

    def behind(self, expression: ast.expr | Value) -> frozenset[ast.Call]:
        """Return the completion calls that an expression is computed from in any way."""
        found: set[ast.Call] = set()
        seen: set[Value] = set()
        left = [self.file.flow.here(expression)]
        known = self.completions.by_call
        while left and len(seen) < MOST:
            value = left.pop()
            if value in seen:
                continue
            seen.add(value)
            for each in self.file.values(value):
                if isinstance(each.node, ast.Call) and each.node in known:
                    found.add(each.node)
                    continue
                left += [
                    each.of(child)
                    for child in ast.iter_child_nodes(each.node)
                    if isinstance(child, ast.expr)
                ]
        return frozenset(found)


def _made_of(node: ast.expr) -> ast.expr | None:
    """Return the mapping whose entries another one has: some of them, or with others on top."""
    match node:
        case ast.DictComp(
            key=ast.Name(id=key),
            value=ast.Name(),
            generators=[
                ast.comprehension(
                    target=ast.Tuple(elts=[ast.Name(id=first), ast.Name()]),
                    iter=ast.Call(func=ast.Attribute(value=mapping, attr="items")),
                )
            ],
        ):
            return mapping if key == first else None
        case ast.Dict(keys=[None, *_], values=[mapping, *_]):
            return mapping
        case ast.BinOp(left=mapping, op=ast.BitOr()):
            return mapping
    return None


def _is_default(value: Value) -> bool:
    """Return whether it is what a name holds before, or instead of, what was sampled."""
    return isinstance(constant(value), str | None)
