"""Find the training calls, and the groups that are trained on."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from art_adapt.code.nodes import (
    FunctionNode,
    awaited,
    dotted,
    first_argument,
    given_to,
    last_name,
)
from art_adapt.rules.code.file import File
from art_adapt.rules.code.trajectories import Trajectories
from art_adapt.rules.code.values import Value

GROUPS = {"trajectory_groups", "groups"}  # what backend.train calls them
# Functions that return the groups that they are given, or make them of these, and what they
# call these.
PASSING = {
    "gather_trajectory_groups": "groups",
    "ruler_score_group": "group",
    "gather": "",
    "wait_for": "fut",
}
TASKS = ("create_task", "ensure_future")
Loop = ast.For | ast.AsyncFor | ast.While
DEEPEST = 4  # functions around a training call in which its loop is looked for
MOST = 200  # expressions that are looked at for groups


@dataclass(frozen=True)
class Training:
    """The training calls of a file."""

    file: File
    trajectories: Trajectories

    @cached_property
    def calls(self) -> tuple[ast.Call, ...]:
        """Calls of ``backend.train(model, groups)``, or the old ``model.train``."""
        return tuple(
            call
            for call, trainer in self.file.method_calls("train")
            if (call.args or {k.arg for k in call.keywords} & GROUPS)
            and self._trains(call, trainer)
        )

    def _trains(self, call: ast.Call, trainer: ast.expr) -> bool:
        """Return whether it is a backend's or a model's: by its name, or by what it is given."""
        name = dotted(trainer)
        if name is not None and (
            "backend" in name.lower() or name.rpartition(".")[2] == "model"
        ):
            return True
        return (
            isinstance(self.file.syntax.parents.get(call), ast.Await)
            and self.file.flow.functions.called(self.file.syntax, call.func) is None
            and any(map(self.is_gathered, given_to(call)))
        )

    def is_gathered(self, given: ast.expr) -> bool:
        """Return whether an argument is what ART's own functions have made: groups."""
        if self.made_as([given]):
            return True
        listed = [self.file.flow.here(given), *self.file.contents.elements(given)]
        found = [value for each in listed for value in self.file.values(each)]
        made = [awaited(value.node) for value in found]
        return any(
            isinstance(each, ast.Call)
            and (self.file.art_name(each.func) or "").rpartition(".")[2] in PASSING
            for each in made
        )

    def levels(self, call: ast.Call) -> Iterator[list[Loop]]:
        """Yield the loops around a training call, function by function, each innermost first.

        After those of its own function come the loops around the only call of that function,
        and so on outward.
        """
        yield from (loops for _, loops in self.sites(call))

    def sites(self, call: ast.Call) -> Iterator[tuple[ast.Call, list[Loop]]]:
        """Yield a training call, the only call of its function and so on, each with its loops."""
        at = call
        for _ in range(DEEPEST):
            yield at, list(self.file.syntax.enclosing_loops(at))
            callers = self.file.callers(at)
            if len(callers) != 1:
                return
            at = callers[0]

    def loops(self, call: ast.Call) -> list[Loop]:
        """Return the loops of the innermost function around a training call that has any."""
        return next(filter(None, self.levels(call)), [])

    def may_end(self, node: ast.AST, depth: int = DEEPEST) -> bool:
        """Return whether a failure at a node ends a loop that trains, because nothing catches it.

        The loop has the node itself, or calls a function of the file that has it. What catches it
        around the outermost loop ends that loop as well.
        """
        *_, outermost = (None, *self.file.syntax.enclosing_loops(node))
        trains = outermost if outermost in self._all_loops else None
        if self.file.is_caught(node, trains) or self._is_apart(node):
            return False
        if not self._all_loops.isdisjoint(self.file.syntax.ancestors(node)):
            return True
        return depth > 1 and any(
            self.may_end(call, depth - 1) for call in self.file.callers(node)
        )

    def _is_apart(self, node: ast.AST) -> bool:
        """Return whether a failure at a node reaches no function around it.

        A callback makes it, a task that nobody awaits here, or a block suppresses it.
        """
        for outer in self.file.syntax.ancestors(node):
            if isinstance(outer, FunctionNode):
                return False
            if isinstance(outer, ast.Lambda) or (
                isinstance(outer, ast.Call) and last_name(outer.func) in TASKS
            ):
                return True
            if isinstance(outer, ast.With) and any(
                isinstance(item.context_expr, ast.Call)
                and last_name(item.context_expr.func) == "suppress"
                for item in outer.items
            ):
                return True
        return False

    @cached_property
    def _all_loops(self) -> frozenset[ast.AST]:
        return frozenset(loop for call in self.calls for loop in self.loops(call))

    @cached_property
    def whole_loop(self) -> bool:
        """Return whether the file both makes rollouts and trains on them.

        What such a file does not do is done nowhere.
        """
        return (
            bool(self.trajectories.new or self.file.recording_calls)
            and any(self.file.art_calls("TrajectoryGroup"))
            and any(self.calls)
        )

    @cached_property
    def groups(self) -> frozenset[ast.AST]:
        """Return the calls of ``TrajectoryGroup`` whose groups a training call certainly gets."""
        return self._groups_of(self.calls)

    def may_come_from(self, node: ast.AST) -> bool:
        """Return whether a trained group may come from a function, or the one around it.

        False only where it can be seen what each group is made of.
        """
        syntax, functions = self.file.syntax, self.file.flow.functions
        trains = {syntax.owner(call) for call in self.calls}
        making: set[str] = set()
        for group in self.groups:
            named = [
                n for n in ast.walk(group) if isinstance(n, ast.Name | ast.Attribute)
            ]
            called = (functions.called(syntax, each) for each in named)
            names = {each[1].qualname for each in called if each is not None}
            names |= {syntax.owner(group)} - trains
            if not names:
                return True
            making |= names
        owner = syntax.owner(node)
        around = {owner, *syntax.functions_around(owner)}
        return not making or not around.isdisjoint(functions.run_by(syntax, making))

    @cached_property
    def judged(self) -> frozenset[ast.AST]:
        """Return the calls of ``TrajectoryGroup`` whose groups RULER certainly gets."""
        return self._groups_of(self.file.art_calls("ruler_score_group"))

    def _groups_of(self, calls: Iterable[ast.Call]) -> frozenset[ast.AST]:
        return self.made_as(given for call in calls for given in given_to(call))

    def made_as(self, groups: Iterable[ast.expr]) -> frozenset[ast.AST]:
        """Return the calls of ``TrajectoryGroup`` that expressions for groups come from."""
        found: set[ast.AST] = set()
        seen: set[Value] = set()
        for each in groups:
            self._collect(self.file.flow.here(each), found, seen)
        return frozenset(found)

    def _collect(self, value: Value, found: set[ast.AST], seen: set[Value]) -> None:
        if value in seen or len(seen) > MOST:
            return
        seen.add(value)
        for each in (*self.file.values(value), *self.file.contents.elements(value)):
            node = each.node
            if isinstance(node, ast.Starred | ast.Await | ast.Subscript):
                self._collect(each.of(node.value), found, seen)
            elif isinstance(node, ast.Call):
                name = last_name(node.func)
                if name == "TrajectoryGroup":
                    found.add(node)
                elif name in PASSING:
                    if (given := first_argument(node, PASSING[name])) is not None:
                        self._collect(each.of(given), found, seen)
                else:
                    self._collect(each, found, seen)
                    body = self.file.flow.functions.enter(each)
                    for yielded in () if body is None else body.yields():
                        self._collect(yielded, found, seen)
            else:
                self._collect(each, found, seen)


def makes_group(value: Value) -> bool:
    """Return whether it makes a group of rollouts that still run."""
    node = value.node
    if not isinstance(node, ast.Call):
        return False
    members = first_argument(node, "trajectories")
    return (
        (value.syntax.qualified(node.func) or "").startswith("art.")
        and (dotted(node.func) or "").endswith("TrajectoryGroup")
        and members is not None
        and not (
            isinstance(members, ast.List)
            and all(isinstance(each, ast.Name) for each in members.elts)
        )
    )
