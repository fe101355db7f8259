"""One file of ART code as the rules read it: an index over its tree, and what its
expressions are (a trajectory, a completion, its choice, its message).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from art_adapt.source import Source
from art_adapt.survey.completion_calls import FoundCall, find_completion_calls
from art_adapt.survey.hooks import imported_hooks, local_names
from art_adapt.survey.roles import Role, role_of
from art_adapt.survey.syntax import (
    MODULE_LEVEL,
    Function,
    FunctionNode,
    Syntax,
    dotted,
    keyword,
)

ITEMS = "messages_and_choices"
DUMPS = ("model_dump", "to_dict", "dict", "strip", "model_copy")
GROUPS = {"trajectory_groups", "groups"}  # what backend.train calls them
BRANCHING = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.If, ast.Try, ast.Match),
    *(ast.For, ast.AsyncFor, ast.While),
)
LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)
DEPTH = 6  # names followed from one expression


class Kind(StrEnum):
    """What an expression is, of a completion."""

    CHOICE = "choice"
    MESSAGE = "message"
    DUMPED_CHOICE = "dumped choice"
    DUMPED_MESSAGE = "dumped message"
    TEXT = "text"


API_MODELS = ("gpt-", "o1", "o3", "o4", "openai/", "claude", "anthropic/", "gemini")


def is_api_model(name: str | None) -> bool:
    """Whether this is a model that nobody trains here: one of an API."""
    return (
        name is not None
        and name.lower().startswith(API_MODELS)
        and "gpt-oss" not in name
    )


@dataclass(frozen=True)
class Put:
    """Something that is put on a trajectory's list: ``value`` by ``by`` (an append, an
    extend, ``+=`` or a constructor).
    """

    value: ast.expr
    by: ast.AST

    @property
    def trajectory(self) -> ast.expr | None:
        """What it is put on, where that is written out: ``t`` of
        ``t.messages_and_choices.append(...)``.
        """
        by = self.by
        if not isinstance(by, ast.Call) or not isinstance(by.func, ast.Attribute):
            return None
        items = by.func.value
        return items.value if isinstance(items, ast.Attribute) else None


@dataclass(frozen=True)
class RewardWrite:
    """Where a trajectory gets its reward: an assignment, with its ``target``, or a
    constructor's argument.
    """

    value: ast.expr
    node: ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Call
    target: ast.Attribute | None = None

    @property
    def constructs(self) -> bool:
        return isinstance(self.node, ast.Call)


@dataclass(frozen=True)
class Code:
    """The index. Everything in it is worked out once, when a rule first asks."""

    source: Source
    auxiliary: frozenset[str] = frozenset()  # functions, from [tool.art-adapt]

    @cached_property
    def syntax(self) -> Syntax:
        return Syntax.of(self.source)

    @cached_property
    def calls(self) -> tuple[ast.Call, ...]:
        return tuple(node for node in self.syntax.nodes if isinstance(node, ast.Call))

    @cached_property
    def is_adapted(self) -> bool:
        """Whether the file imports the recorder's hooks."""
        return bool(imported_hooks(self.syntax))

    @cached_property
    def completions(self) -> tuple[FoundCall, ...]:
        hooks = local_names(imported_hooks(self.syntax), "recorded")
        return tuple(find_completion_calls(self.syntax, hooks))

    @cached_property
    def policy_calls(self) -> tuple[FoundCall, ...]:
        """Completion calls in a function that makes a trajectory or writes on one, or
        (in an adapted file) recorded ones.
        """
        return tuple(
            call
            for call in self.completions
            if call.call is not None
            and (call.recorded or self.in_rollout(call.callee))
            and self.may_be_trained(call)
        )

    def may_be_trained(self, call: FoundCall) -> bool:
        """Whether it is neither a judge's nor another side job's, nor asks an API's model."""
        return (
            not is_api_model(self.literal_model(call))
            and role_of(call, self.completions)[0] is Role.POLICY
        )

    @cached_property
    def completion_of(self) -> dict[ast.Call, FoundCall]:
        """The completion that each call is."""
        return {call.call: call for call in self.completions if call.call is not None}

    def sampled_elsewhere(self, expression: ast.expr) -> bool:
        """Whether a choice, message or text is known to come from calls of other models."""
        calls = self.sources(expression)
        return bool(calls) and all(
            call in self.completion_of
            and not self.may_be_trained(self.completion_of[call])
            for call in calls
        )

    def sources(self, expression: ast.expr) -> frozenset[ast.Call | None]:
        """The calls that an expression may come from; None: one that is not seen here."""
        while isinstance(expression, ast.Subscript | ast.Attribute | ast.Await):
            expression = expression.value
        if isinstance(expression, ast.Call):
            if (
                isinstance(expression.func, ast.Attribute)
                and expression.func.attr in DUMPS
            ):
                return self.sources(expression.func.value)
            return frozenset({expression})
        if not isinstance(expression, ast.Name):
            return frozenset({None})
        key = (self.syntax.owner(expression), expression.id)
        if key not in self._sources:
            self._sources[key] = frozenset()  # while it is worked out
            values = self.syntax.values_of(expression)
            found = [self.sources(value) for value in values]
            self._sources[key] = (
                frozenset().union(*found) if found else frozenset({None})
            )
        return self._sources[key]

    @cached_property
    def _sources(self) -> dict[tuple[str, str], frozenset[ast.Call | None]]:
        return {}

    def in_rollout(self, node: ast.AST) -> bool:
        """Whether ``node`` stands in a function that makes or fills a trajectory, or in
        one inside it.
        """
        parts = self.syntax.owner(node).split(".")
        return any(
            ".".join(parts[:end]) in self.rollouts for end in range(1, len(parts) + 1)
        )

    # ---------------------------------------------------------------------------- ART

    def art_name(self, expression: ast.expr) -> str | None:
        """``art.local.LocalBackend`` for what means that here, for certain: a file that
        defines the name itself, for when the import fails, means either.
        """
        head = (dotted(expression) or "").partition(".")[0]
        if head in self.syntax.classes or head in self.syntax.functions:
            return None
        name = self.syntax.qualified(expression)
        return name if name is not None and name.split(".")[0] == "art" else None

    def art_calls(self, *names: str) -> Iterator[ast.Call]:
        """Calls of something of ART's that is named so, wherever it is imported from."""
        for call in self.calls:
            name = self.art_name(call.func)
            if name is not None and name.rpartition(".")[2] in names:
                yield call

    def method_calls(self, *names: str) -> Iterator[ast.Call]:
        for name in names:
            yield from self._methods.get(name, ())

    @cached_property
    def _methods(self) -> dict[str, list[ast.Call]]:
        found: dict[str, list[ast.Call]] = {}
        for call in self.calls:
            if isinstance(call.func, ast.Attribute):
                found.setdefault(call.func.attr, []).append(call)
        return found

    @cached_property
    def trajectory_classes(self) -> dict[str, ast.ClassDef]:
        """Classes of this file that derive from ``art.Trajectory``."""
        found: dict[str, ast.ClassDef] = {}
        for name, node in self.syntax.classes.items():
            for base in node.bases:
                named = self.art_name(base)
                if (named or "").endswith(".Trajectory") or dotted(base) in found:
                    found[name] = node
        return found

    @cached_property
    def new_trajectories(self) -> tuple[ast.Call, ...]:
        """Calls that construct a trajectory."""
        return tuple(
            call
            for call in self.calls
            if (self.art_name(call.func) or "").endswith(".Trajectory")
            or dotted(call.func) in self.trajectory_classes
        )

    def is_plain_trajectory(self, expression: ast.expr) -> bool:
        """Whether a name holds an ``art.Trajectory`` itself, for certain."""
        values = self.syntax.values_of(expression)
        return bool(values) and all(
            value in self._constructed
            and isinstance(value, ast.Call)
            and self.art_name(value.func) is not None
            for value in values
        )

    @cached_property
    def rollouts(self) -> frozenset[str]:
        """Functions that construct a trajectory, put something on one, or say that they
        return one.
        """
        owner = self.syntax.owner
        found = {owner(call) for call in self.new_trajectories}
        found |= {owner(put.by) for put in self.puts}
        for name, function in self.syntax.functions.items():
            returns = function.node.returns
            if returns is not None and (
                (self.art_name(returns) or "").endswith(".Trajectory")
                or dotted(returns) in self.trajectory_classes
            ):
                found.add(name)
        return frozenset(found - {MODULE_LEVEL})

    @cached_property
    def puts(self) -> tuple[Put, ...]:
        return tuple(self._puts())

    def _puts(self) -> Iterator[Put]:
        for node in self.syntax.nodes:
            if isinstance(node, ast.Call):
                if (
                    isinstance(node.func, ast.Attribute)
                    and node.func.attr in ("append", "extend", "insert")
                    and node.args
                    and self.is_items(node.func.value)
                ):
                    value = node.args[-1]
                    if node.func.attr != "extend":
                        yield Put(value, node)
                    elif isinstance(value, ast.List):
                        yield from (Put(each, node) for each in value.elts)
                elif node in self._constructed:
                    given = keyword(node, ITEMS)
                    if isinstance(given, ast.List):
                        yield from (Put(each, node) for each in given.elts)
            elif (
                isinstance(node, ast.AugAssign)
                and isinstance(node.value, ast.List)
                and self.is_items(node.target)
            ):
                yield from (Put(each, node) for each in node.value.elts)

    @cached_property
    def extends_items(self) -> bool:
        """Whether a trajectory's list is extended: perhaps by what is not seen here."""
        return any(
            isinstance(call.func, ast.Attribute) and self.is_items(call.func.value)
            for call in self.method_calls("extend")
        )

    def is_items(self, expression: ast.expr) -> bool:
        """Whether it is a trajectory's list: an attribute of that name, a name that was
        assigned one, or one that a trajectory is constructed with.
        """
        if isinstance(expression, ast.Attribute):
            return expression.attr == ITEMS
        if not isinstance(expression, ast.Name):
            return False
        if (self.syntax.owner(expression), expression.id) in self._constructed_with:
            return True
        return any(
            isinstance(value, ast.Attribute) and value.attr == ITEMS
            for value in self.syntax.values_of(expression)
        )

    @cached_property
    def _constructed_with(self) -> frozenset[tuple[str, str]]:
        """Local lists that are handed to a trajectory: (function, name)."""
        found = set()
        for call in self.new_trajectories:
            given = keyword(call, ITEMS)
            if isinstance(given, ast.Name) and any(
                isinstance(value, ast.List) for value in self.syntax.values_of(given)
            ):
                found.add((self.syntax.owner(call), given.id))
        return frozenset(found)

    @cached_property
    def reward_writes(self) -> tuple[RewardWrite, ...]:
        found: list[RewardWrite] = []
        for node in self.syntax.nodes:
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
                targets = (
                    node.targets if isinstance(node, ast.Assign) else [node.target]
                )
                rewards = (
                    target
                    for target in targets
                    if isinstance(target, ast.Attribute)
                    and target.attr == "reward"
                    and self.is_trajectory(target.value)
                )
                target = next(rewards, None)
                if node.value is not None and target is not None:
                    found.append(RewardWrite(node.value, node, target))
        for call in self.new_trajectories:
            value = keyword(call, "reward")
            if value is not None:
                found.append(RewardWrite(value, call))
        return tuple(found)

    @cached_property
    def has_other_rewards(self) -> bool:
        """Whether rewards are written in ways that ``reward_writes`` does not know."""
        known = {id(write.node) for write in self.reward_writes}
        return any(
            isinstance(node, ast.Attribute)
            and node.attr == "reward"
            and isinstance(node.ctx, ast.Store)
            and id(self.syntax.parents[node]) not in known
            for node in self.syntax.nodes
        )

    def is_trajectory(self, expression: ast.expr) -> bool:
        """Whether it may well be a trajectory: made as one, annotated so, or named so."""
        name = dotted(expression)
        if name is None:
            return False
        values = self.syntax.values_of(expression)
        if any(value in self._constructed for value in values):
            return True
        others = [
            value
            for value in values
            if isinstance(value, ast.Call)
            and (dotted(value.func) or "").rpartition(".")[2][:1].isupper()
        ]
        if others:  # of another class
            return False
        named = re.search(r"(^|[._])traj(ectory)?$", name, re.IGNORECASE) is not None
        return named or self._annotated_trajectory(expression, name)

    @cached_property
    def _constructed(self) -> frozenset[ast.expr]:
        return frozenset(self.new_trajectories)

    def _annotated_trajectory(self, expression: ast.expr, name: str) -> bool:
        function = self.syntax.functions.get(self.syntax.owner(expression))
        if function is None:
            return False
        arguments = function.node.args
        return any(
            argument.arg == name
            and argument.annotation is not None
            and "Trajectory" in ast.unparse(argument.annotation)
            and "Group" not in ast.unparse(argument.annotation)
            for argument in (*arguments.args, *arguments.kwonlyargs)
        )

    @cached_property
    def whole_loop(self) -> bool:
        """Whether rollouts and their training are both in this file, so that what is
        not here is nowhere.
        """
        return (
            bool(self.new_trajectories)
            and any(self.art_calls("TrajectoryGroup"))
            and any(self.training_calls)
        )

    @cached_property
    def training_calls(self) -> tuple[ast.Call, ...]:
        """``backend.train(model, groups)``, and ``model.train(groups)`` of old."""
        return tuple(
            call
            for call in self.method_calls("train")
            if isinstance(call.func, ast.Attribute)
            and (name := dotted(call.func.value)) is not None
            and ("backend" in name.lower() or name.rpartition(".")[2] == "model")
            and (call.args or {k.arg for k in call.keywords} & GROUPS)
        )

    def is_trained_on(self, call: ast.Call) -> bool:
        """Whether the groups that ``call`` makes one of are trained on: by the name that
        they are gathered into, before it is given to something else.
        """
        for ancestor in self.syntax.ancestors(call):
            if isinstance(ancestor, ast.Assign):
                name = dotted(ancestor.targets[0])
                break
            if isinstance(ancestor, ast.stmt):
                return False
        else:
            return False
        owner = self.syntax.owner(ancestor)
        line = ancestor.lineno
        again = [
            value.lineno
            for where, value in self.syntax.assignments.get(name or "", [])
            if where == owner and value.lineno > (ancestor.end_lineno or line)
        ]
        until = min(again, default=10**9)
        return any(
            self.syntax.owner(training) == owner
            and line < training.lineno <= until
            and name in _given_names(training)
            for training in self.training_calls
        )

    @cached_property
    def shapes_rewards(self) -> bool:
        """Whether something may set rewards where it is not seen: a hook of the gather, or
        ``setattr``.
        """
        return any(
            keyword(call, "after_each")
            for call in self.art_calls("gather_trajectory_groups")
        ) or any(dotted(call.func) == "setattr" for call in self.calls)

    @cached_property
    def judges(self) -> bool:
        """Whether RULER or something named a judge or scorer is in this file."""
        return any(
            word in name.lower()
            for name in (*self.syntax.names, *self._attributes)
            for word in ("ruler", "score", "judge", "grade")
        )

    @cached_property
    def _attributes(self) -> frozenset[str]:
        return frozenset(
            node.attr for node in self.syntax.nodes if isinstance(node, ast.Attribute)
        )

    # ---------------------------------------------------------------- completions

    def kind(self, expression: ast.expr, depth: int = DEPTH) -> Kind | None:
        """What of a completion ``expression`` is; None if that is not certain."""
        if isinstance(expression, ast.Await):
            return self.kind(expression.value, depth)
        if isinstance(expression, ast.Subscript):
            value = expression.value
            if (
                isinstance(value, ast.Attribute)
                and value.attr == "choices"
                and not isinstance(expression.slice, ast.Slice)
            ):
                return Kind.CHOICE
            return None
        if isinstance(expression, ast.Attribute):
            inner = self.kind(expression.value, depth)
            if inner is Kind.CHOICE and expression.attr == "message":
                return Kind.MESSAGE
            if inner is Kind.MESSAGE and expression.attr == "content":
                return Kind.TEXT
            return None
        if isinstance(expression, ast.BoolOp):
            return self.kind(expression.values[0], depth)
        if isinstance(expression, ast.Call):
            return self._kind_of_call(expression, depth)
        if isinstance(expression, ast.Name) and depth:
            key = (self.syntax.owner(expression), expression.id)
            if key not in self._kinds:
                self._kinds[key] = None  # while it is worked out
                values = [
                    value
                    for value in self.syntax.values_of(expression)
                    if not (
                        isinstance(value, ast.Constant) and value.value in (None, "")
                    )
                ]
                kinds = {self.kind(value, depth - 1) for value in values}
                self._kinds[key] = kinds.pop() if len(kinds) == 1 else None
            return self._kinds[key]
        return None

    @cached_property
    def _kinds(self) -> dict[tuple[str, str], Kind | None]:
        return {}

    def _kind_of_call(self, call: ast.Call, depth: int) -> Kind | None:
        name = dotted(call.func) or ""
        if name in ("cast", "typing.cast") and len(call.args) == 2:
            return self.kind(call.args[1], depth)
        if name in ("copy.copy", "copy.deepcopy", "deepcopy", "str") and call.args:
            return self.kind(call.args[0], depth)
        if not isinstance(call.func, ast.Attribute):
            return None
        inner = self.kind(call.func.value, depth)
        if call.func.attr in ("model_dump", "to_dict", "dict", "model_dump_json"):
            if inner is Kind.CHOICE:
                return Kind.DUMPED_CHOICE
            if inner is Kind.MESSAGE:
                return Kind.DUMPED_MESSAGE
        if inner is Kind.TEXT and call.func.attr in ("strip", "rstrip", "lstrip"):
            return Kind.TEXT
        return None

    def literal_model(self, call: FoundCall) -> str | None:
        """The model's name where the file says it."""
        model = call.model or self.argument(call, "model")
        if model is None:
            return None
        values = (model, *self.syntax.values_of(model))
        return next(
            (
                value.value
                for value in values
                if isinstance(value, ast.Constant) and isinstance(value.value, str)
            ),
            None,
        )

    def argument(self, call: FoundCall, name: str) -> ast.expr | None:
        """An argument of the request, also one in ``extra_body`` or in ``**options``, where
        those are written in this function.
        """
        if call.call is None:
            return None
        value = keyword(call.call, name)
        if value is not None:
            return value
        given = [keyword(call.call, "extra_body")]
        for argument in call.call.keywords:
            if argument.arg is None:
                values = self.syntax.values_of(argument.value)
                given += values if len(values) == 1 else [argument.value]
        written = [dict_item(each, name) for each in given if each is not None]
        return next((each for each in written if each is not None), None)

    def sampled_with(self, name: str) -> Iterator[tuple[ast.expr, object]]:
        """An argument of each policy call, and its value if that is constant. Not of
        recorded calls: in a rollout of art_recording the train module's sampling holds.
        """
        for call in self.policy_calls:
            given = self.argument(call, name)
            if given is not None and not call.recorded:
                yield given, self.constant(given)

    # --------------------------------------------------------------------- small things

    def constant(self, expression: ast.expr | None, depth: int = DEPTH) -> object:
        """The constant that an expression is or names; ``...`` for everything else."""
        if expression is None or not depth:
            return ...
        if isinstance(expression, ast.UnaryOp) and isinstance(expression.op, ast.USub):
            value = self.constant(expression.operand, depth - 1)
            return -value if isinstance(value, int | float) else ...
        if isinstance(expression, ast.Constant):
            return expression.value
        if isinstance(expression, ast.Name):
            values = self.syntax.values_of(expression)
            if len(values) == 1 and not isinstance(values[0], ast.Name):
                return self.constant(values[0], depth - 1)
        return ...

    def function_of(self, node: ast.AST) -> Function | None:
        return self.syntax.functions.get(self.syntax.owner(node))

    def is_async(self, node: ast.AST) -> bool:
        function = self.function_of(node)
        return function is not None and isinstance(function.node, ast.AsyncFunctionDef)

    def within(self, node: ast.AST, outer: ast.AST) -> bool:
        return any(ancestor is outer for ancestor in self.syntax.ancestors(node))

    def after(self, statement: ast.AST) -> list[ast.stmt]:
        """The statements that follow in the same block."""
        parent = self.syntax.parents.get(statement)
        for name in ("body", "orelse", "finalbody"):
            body = getattr(parent, name, None)
            if isinstance(body, list) and statement in body:
                following: list[ast.stmt] = body[body.index(statement) + 1 :]
                return following
        return []

    def following(self, node: ast.AST) -> Iterator[ast.stmt]:
        """The statements that are certain to follow, in the same function: up to one that
        leaves, or to the end of a branch.
        """
        for outer in (node, *self.syntax.ancestors(node)):
            if isinstance(outer, BRANCHING):
                return
            for statement in self.after(outer):
                if isinstance(statement, LEAVING):
                    return
                yield statement

    def inside(self, outer: ast.AST) -> Iterator[ast.AST]:
        """The nodes below ``outer``, not those of functions that are defined there."""
        for child in ast.iter_child_nodes(outer):
            yield child
            if not isinstance(child, FunctionNode | ast.Lambda | ast.ClassDef):
                yield from self.inside(child)


def _given_names(training: ast.Call) -> set[str | None]:
    """The names that a training call is given, also in lists."""
    given = [*training.args, *(each.value for each in training.keywords)]
    lists = [each for each in given if isinstance(each, ast.List)]
    return {
        dotted(each) for each in (*given, *(e for one in lists for e in one.elts))
    } - {None}


def dict_item(expression: ast.expr, key: str) -> ast.expr | None:
    """The value of a key in a dict that is written out; None where there is none."""
    if isinstance(expression, ast.Dict):
        for name, value in zip(expression.keys, expression.values, strict=True):
            if isinstance(name, ast.Constant) and name.value == key:
                return value
    return None


def below(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """All nodes of a block."""
    for statement in body:
        yield from ast.walk(statement)
