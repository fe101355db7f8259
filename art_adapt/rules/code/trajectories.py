"""Find where trajectories are made, and what is put on them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from art_adapt.code.nodes import (
    awaited,
    dotted,
    last_name,
    names_in,
    receiver,
    targets_of,
)
from art_adapt.code.syntax import MODULE_LEVEL
from art_adapt.rules.code.annotated import is_group
from art_adapt.rules.code.art_names import TRAIN_HELPERS
from art_adapt.rules.code.copies import (
    ITEMS,
    Key,
    copied_before,
    held_by_objects,
    key_of,
)
from art_adapt.rules.code.file import File
from art_adapt.rules.code.values import Value
from art_adapt.words import GROWS_LIST, TRAJECTORY


@dataclass(frozen=True)
class Put:
    """A value that is put on a trajectory's ``messages_and_choices``.

    ``by`` does it: an append, insert or extend, ``+=``, an assignment, or the constructor.
    ``at`` is the expression to report.
    """

    value: Value
    by: ast.AST
    at: ast.expr

    @property
    def trajectory(self) -> ast.expr | None:
        """Return the ``t`` of ``t.messages_and_choices.append(...)``, if it is written so."""
        by = self.by
        if not isinstance(by, ast.Call) or not isinstance(by.func, ast.Attribute):
            return None
        items = by.func.value
        return items.value if isinstance(items, ast.Attribute) else None


@dataclass(frozen=True)
class Trajectories:
    """The trajectories of a file, and the rollouts that make or fill them."""

    file: File

    @cached_property
    def classes(self) -> dict[str, ast.ClassDef]:
        """Classes of this file that derive from ``art.Trajectory``."""
        found: dict[str, ast.ClassDef] = {}
        for name, node in self.file.syntax.classes.items():
            for base in node.bases:
                named = self.file.art_name(base)
                if (named or "").endswith(".Trajectory") or dotted(base) in found:
                    found[name] = node
        return found

    @cached_property
    def new(self) -> tuple[ast.Call, ...]:
        """Calls that construct a trajectory, except those that only render messages."""
        return tuple(
            call
            for call in self.file.calls
            if self.is_class(call.func) and not self._is_rendered(call)
        )

    def _is_rendered(self, call: ast.Call) -> bool:
        """Return whether it is thrown away: ``art.Trajectory(...).messages()``."""
        parent = self.file.syntax.parents.get(call)
        return isinstance(parent, ast.Attribute) and parent.attr == "messages"

    @cached_property
    def _constructed(self) -> frozenset[ast.expr]:
        return frozenset(self.new)

    def is_class(self, expression: ast.expr) -> bool:
        """Return whether it names ``art.Trajectory`` or a subclass of it."""
        named = self.file.art_name(expression) or ""
        return (
            named.endswith(".Trajectory")
            or dotted(expression) in self.classes
            or self.file.syntax.qualified(expression) == f"{TRAIN_HELPERS}.Trajectory"
        )

    def finished(self, expression: ast.expr) -> ast.expr:
        """Return the ``t`` of ``t.finish()``, which returns it, and anything else as it is."""
        while (
            isinstance(expression, ast.Call)
            and isinstance(expression.func, ast.Attribute)
            and expression.func.attr == "finish"
        ):
            expression = expression.func.value
        return expression

    def is_one(self, expression: ast.expr) -> bool:
        """Return whether it is constructed, annotated or named as a trajectory."""
        # Trajectory.finish() returns the trajectory itself (art/trajectories.py).
        expression = self.finished(expression)
        name = dotted(expression)
        if name is None:
            return False
        values = [value.node for value in self.file.values(expression)]
        if any(value in self._constructed for value in values):
            return True
        if any(awaited(value) in self.file.recording_calls for value in values):
            return True
        others = [
            value
            for value in values
            if isinstance(value, ast.Call) and last_name(value.func)[:1].isupper()
        ]
        if others:  # of another class
            return False
        return (
            TRAJECTORY.search(name) is not None
            or any(map(_is_type, self.file.syntax.annotations_of(expression)))
            or self._is_of_group(expression)
        )

    def _is_of_group(self, expression: ast.expr) -> bool:
        """Return whether it is an element of a group, as a loop over it binds one."""
        here = self.file.flow.here(expression)
        return any(
            self._is_made_by(group, "TrajectoryGroup", "ruler_score_group")
            or is_group(self.file.flow, group)
            or any(
                self._is_made_by(groups, "gather_trajectory_groups")
                for groups in self._containers(group)
            )
            for group in self._containers(here)
        )

    def is_scored_by_ruler(self, expression: ast.expr) -> bool:
        """Return whether it is an element of a group that RULER has made anew."""
        here = self.file.flow.here(expression)
        return any(
            self._is_made_by(group, "ruler_score_group")
            for group in self._containers(here)
        )

    def _containers(self, element: Value) -> Iterator[Value]:
        """Yield what an expression may be an element of; of ``group.trajectories`` the group."""
        for value in self.file.values(element):
            if isinstance(value.node, ast.Subscript):
                container = value.node.value
                if isinstance(container, ast.Attribute):
                    if container.attr != "trajectories":
                        continue
                    container = container.value
                yield value.of(container)

    def _is_made_by(self, made: Value, *functions: str) -> bool:
        """Return whether a function of ART made it, for all that is known."""
        values = [value.node for value in self.file.values(made)]
        return bool(values) and all(
            isinstance(value, ast.Call)
            and (self.file.art_name(value.func) or "").endswith(functions)
            for value in map(awaited, values)
        )

    def is_plain(self, expression: ast.expr) -> bool:
        """Return whether it certainly is an ``art.Trajectory``, not of a subclass."""
        return all(
            value.node in self._constructed
            and isinstance(value.node, ast.Call)
            and self.file.art_name(value.node.func) is not None
            for value in self.file.values(expression)
        )

    @cached_property
    def makers(self) -> frozenset[str]:
        """Return functions whose own code makes or fills a trajectory, or that return one."""
        owner = self.file.syntax.owner
        found = {owner(call) for call in (*self.new, *self.file.recording_calls)}
        found |= {owner(put.by) for put in self.written}
        for name, function in self.file.syntax.functions.items():
            returns = function.node.returns
            if returns is not None and self.is_class(returns):
                found.add(name)
        return frozenset(found - {MODULE_LEVEL})

    @cached_property
    def rollouts(self) -> frozenset[str]:
        """Return the makers, and functions for which a helper fills a trajectory.

        Who calls a maker has it fill its own: a function that trains, say.
        """
        owner = self.file.syntax.owner
        made = {owner(call) for call in self.new}
        filled = {
            owner(put.by)
            for put in self.puts
            if not isinstance(put.by, ast.Call)
            or (body := self.file.entered(put.by)) is None
            or body.function.qualname not in made
        }
        filled |= {owner(call) for call in self._made_by_helpers()}
        return self.makers | filled - {MODULE_LEVEL}

    def _made_by_helpers(self) -> Iterator[ast.Call]:
        """Yield the calls of plain functions that a name gets a new trajectory of."""
        syntax = self.file.syntax
        made = {syntax.owner(call) for call in self.new} & syntax.functions.keys()
        for function in map(syntax.functions.__getitem__, made):
            if not isinstance(function.node, ast.FunctionDef):
                continue
            for call in self.file.flow.functions.calls_of(syntax, function):
                target = next(iter(targets_of(syntax.parents.get(call))), None)
                if not isinstance(target, ast.Name) or not self.is_one(target):
                    continue
                if self._is_filled(target, call):
                    yield call

    def _is_filled(self, trajectory: ast.Name, near: ast.AST) -> bool:
        """Return whether a function puts turns on a trajectory, or rewards it."""
        parents = self.file.syntax.parents
        around = (parents[read] for read in self.file.reads(trajectory.id, near))
        return any(
            isinstance(each.ctx, ast.Store)
            or last_name(parents[each]) in (*GROWS_LIST, ITEMS)
            for each in around
            if isinstance(each, ast.Attribute)
        )

    def in_rollout(self, node: ast.AST) -> bool:
        """Return whether ``node`` stands in a rollout, or in a function inside one."""
        owner = self.file.syntax.owner(node)
        around = (owner, *self.file.syntax.functions_around(owner))
        return not self.rollouts.isdisjoint(around)

    @cached_property
    def in_episodes(self) -> frozenset[str]:
        """Return the rollouts, the functions inside them, and those of this file that they call."""
        return self.file.flow.functions.run_by(self.file.syntax, self.rollouts)

    def in_episode(self, node: ast.AST) -> bool:
        """Return whether ``node`` stands in a rollout or in a function that it calls."""
        return self.in_rollout(node) or self.file.syntax.owner(node) in self.in_episodes

    @cached_property
    def puts(self) -> tuple[Put, ...]:
        """Return what is put on trajectories; through a helper, where the helper is called."""
        found: list[Put] = []
        for put in self.written:
            found += list(self._by_calls(put)) or [put]
        return tuple(found)

    @cached_property
    def written(self) -> tuple[Put, ...]:
        """Return what is put on trajectories, where that is written."""
        return tuple(
            put for put in self._written if not isinstance(put.value.node, ast.Starred)
        )

    @cached_property
    def _written(self) -> tuple[Put, ...]:
        """Return the puts as they are written; of what cannot be seen, the ``ast.Starred``."""
        return tuple(self._puts())

    def _puts(self) -> Iterator[Put]:
        for node in self.file.syntax.nodes:
            if isinstance(node, ast.Call):
                items = receiver(node, *GROWS_LIST)
                if items is not None and node.args and self.is_items(items):
                    if receiver(node, "extend"):
                        yield from self._all(node.args[0], node)
                    else:
                        yield self._one(node.args[-1], node)
                elif node.args and self._is_append(node.func):
                    yield self._one(node.args[0], node)
                else:  # a trajectory, or a record that becomes one
                    yield from self._all(self.file.contents.given(node, ITEMS), node)
            elif isinstance(node, ast.AugAssign) and self.is_items(node.target):
                yield from self._all(node.value, node)
            elif isinstance(node, ast.Assign):
                target = node.targets[0]
                if (isinstance(target, ast.Attribute) and target.attr == ITEMS) or (
                    isinstance(target, ast.Subscript)
                    and isinstance(target.slice, ast.Slice)
                    and self.is_items(target.value)
                ):
                    yield from self._all(node.value, node)

    def _is_append(self, called: ast.expr) -> bool:
        """Return whether it is a name for ``trajectory.messages_and_choices.append``."""
        return isinstance(called, ast.Name) and any(
            isinstance(value.node, ast.Attribute)
            and value.node.attr == "append"
            and self.is_items(value.node.value)
            for value in self.file.values(called)
        )

    def _by_calls(self, put: Put) -> Iterator[Put]:
        """Yield a put of a function's parameter once more for each call that gives it."""
        function = self.file.function_of(put.by)
        if function is None or not self.file.has(put.value):
            return
        if names_in(put.value.node).isdisjoint(function.given):
            return
        for call in self.file.callers(put.by):
            if (body := self.file.entered(call)) is not None:
                yield Put(Value(put.value.node, body.place), call, call)

    def _one(self, value: ast.expr, by: ast.AST) -> Put:
        return Put(self.file.flow.here(value), by, value)

    def _all(self, values: ast.expr | None, by: ast.AST) -> Iterator[Put]:
        """Yield what a list puts on a trajectory, as far as it can be seen."""
        if values is None:
            return
        for value in self.file.contents.elements(values):
            yield Put(value, by, value.node if self.file.has(value) else values)

    @cached_property
    def is_hidden(self) -> bool:
        """Return whether a part of what is put on trajectories that are made cannot be seen."""
        parents = self.file.syntax.parents
        unpacked = any(
            isinstance(node, ast.Attribute)
            and node.attr == ITEMS
            and isinstance(node.ctx, ast.Store)
            and not isinstance(parents[node], ast.Assign)
            for node in self.file.syntax.nodes
        )
        return unpacked or any(
            isinstance(put.value.node, ast.Starred)
            and not (
                isinstance(put.by, ast.Call) and self.file.contents.given(put.by, ITEMS)
            )
            for put in self._written
        )

    @cached_property
    def extends_items(self) -> bool:
        """Return whether a trajectory's list is extended, perhaps with unknown values."""
        extended = self.file.method_calls("extend")
        return any(self.is_items(items) for _, items in extended)

    def is_metrics(self, expression: ast.expr) -> bool:
        """Return whether it is the ``metrics`` of a trajectory."""
        return (
            isinstance(expression, ast.Attribute)
            and expression.attr == "metrics"
            and self.is_one(expression.value)
        )

    def is_items(self, expression: ast.expr) -> bool:
        """Return whether it is the ``messages_and_choices`` list of a trajectory.

        It may be the attribute, a name that was assigned it, or a list that a trajectory
        is constructed with.
        """
        if isinstance(expression, ast.Attribute):
            is_held = key_of(self.file, expression) in self._held
            is_held = is_held and expression not in self._copied_before
            if expression.attr == ITEMS or is_held:
                return True
        elif isinstance(expression, ast.Name):
            key = self.file.syntax.owner(expression), expression.id
            if key in self._kept or (
                key in self._constructed_with and expression not in self._copied_before
            ):
                return True
        else:
            return False
        return any(
            isinstance(value.node, ast.Attribute) and value.node.attr == ITEMS
            for value in self.file.aliases.values(expression)
        )

    @cached_property
    def _kept(self) -> frozenset[tuple[str, str]]:
        """Local lists that are assigned to a trajectory, which keeps the object itself."""
        return frozenset(
            (self.file.syntax.owner(node), node.value.id)
            for node in self.file.syntax.nodes
            if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Name)
            and any(
                isinstance(t, ast.Attribute) and t.attr == ITEMS for t in node.targets
            )
        )

    @cached_property
    def _held(self) -> frozenset[Key]:
        return held_by_objects(self.file, self.new)

    @cached_property
    def late(self) -> tuple[Put, ...]:
        """Return what is added to lists of which trajectories have been made already.

        The constructor copies the list, so these additions are not on the trajectory.
        """
        found: list[Put] = []
        for node in self.file.syntax.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.value in self._copied_before and node.args:
                    if node.func.attr == "extend":
                        found += self._all(node.args[0], node)
                    else:
                        found.append(self._one(node.args[-1], node))
            elif isinstance(node, ast.AugAssign) and node.target in self._copied_before:
                found += self._all(node.value, node)
        return tuple(found)

    @cached_property
    def _copied_before(self) -> frozenset[ast.expr]:
        return copied_before(self.file, self.new)

    @cached_property
    def _constructed_with(self) -> frozenset[tuple[str, str]]:
        """Local lists that a trajectory is constructed with: (function, name)."""
        found = set()
        for call in self.new:
            given = self.file.contents.given(call, ITEMS)
            if isinstance(given, ast.Name) and any(
                isinstance(value, ast.List)
                for value in self.file.syntax.values_of(given)
            ):
                found.add((self.file.syntax.owner(call), given.id))
        return frozenset(found)


def _is_type(annotation: ast.expr) -> bool:
    said = ast.unparse(annotation)
    return "Trajectory" in said and "Group" not in said
