"""Find the training calls, and the groups that are trained on."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from art_adapt.code.nodes import dotted, given_to, last_name
from art_adapt.rules.code.file import File
from art_adapt.rules.code.functions import Value
from art_adapt.rules.code.trajectories import Trajectories

GROUPS = {"trajectory_groups", "groups"}  # what backend.train calls them
# Functions that return the groups that they are given, or make them of these.
PASSING = ("gather_trajectory_groups", "gather", "ruler_score_group", "wait_for")
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
            if (name := dotted(trainer)) is not None
            and ("backend" in name.lower() or name.rpartition(".")[2] == "model")
            and (call.args or {k.arg for k in call.keywords} & GROUPS)
        )

    def levels(self, call: ast.Call) -> Iterator[list[Loop]]:
        """Yield the loops around a training call, function by function, each innermost first.

        After those of its own function come the loops around the only call of that function,
        and so on outward.
        """
        at = call
        for _ in range(DEEPEST):
            yield list(self.file.syntax.enclosing_loops(at))
            callers = self.file.callers(at)
            if len(callers) != 1:
                return
            at = callers[0]

    def loops(self, call: ast.Call) -> list[Loop]:
        """Return the loops of the innermost function around a training call that has any."""
        return next(filter(None, self.levels(call)), [])

    @cached_property
    def whole_loop(self) -> bool:
        """Return whether the file both makes rollouts and trains on them.

        What such a file does not do is done nowhere.
        """
        return (
            bool(self.trajectories.new)
            and any(self.file.art_calls("TrajectoryGroup"))
            and any(self.calls)
        )

    @cached_property
    def groups(self) -> frozenset[ast.AST]:
        """Return the calls of ``TrajectoryGroup`` whose groups a training call certainly gets."""
        return self._groups_of(self.calls)

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
                elif name in PASSING and node.args:
                    self._collect(each.of(node.args[0]), found, seen)
                else:
                    self._collect(each, found, seen)
            else:
                self._collect(each, found, seen)
