"""Find where trajectories get their rewards."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from art_adapt.code.nodes import (
    awaited,
    dotted,
    given_to,
    keyword,
    receiver,
    targets_of,
)
from art_adapt.code.syntax import return_values
from art_adapt.code.used_names import used_names
from art_adapt.rules.code.art_names import REWARDS, TRAIN_HELPERS
from art_adapt.rules.code.file import File
from art_adapt.rules.code.trajectories import Trajectories
from art_adapt.rules.code.values import Place, Value
from art_adapt.words import LEAVES_TRAJECTORY, MAY_JUDGE, TRAJECTORIES

# Functions of ART that take trajectories and set no rewards.
KNOWN = frozenset(
    [
        "art.TrajectoryGroup",
        "art.gather_trajectory_groups",
        "art.gather_trajectories",
    ]
)


@dataclass(frozen=True)
class RewardWrite:
    """A value that a trajectory gets as its reward.

    ``node`` is an assignment to ``target``, or the call that constructs the trajectory.
    """

    value: ast.expr
    node: ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Call
    target: ast.Attribute | None = None

    @property
    def constructs(self) -> bool:
        return isinstance(self.node, ast.Call)


KEEPING = ("abs", "float", "round", "pow")  # what an operand is, their result is


def computed(
    file: File, value: Value, through: Collection[str] = KEEPING, deepest: int = 8
) -> Iterator[Value]:
    """Yield a number and what it is computed from: by operators, ``math`` and these functions."""
    yield value
    node = value.node
    parts: list[ast.expr] = []
    if isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp):
        parts = [node.operand]
    elif isinstance(node, ast.Call):
        name = value.syntax.qualified(node.func) or ""
        parts = node.args if name in through or name.startswith("math.") else []
    for part in parts if deepest else ():
        for each in file.values(value.of(part)):
            yield from computed(file, each, through, deepest - 1)


@dataclass(frozen=True)
class Rewards:
    """The rewards that a file sets, and signs of those that are set out of sight."""

    file: File
    trajectories: Trajectories

    @cached_property
    def writes(self) -> tuple[RewardWrite, ...]:
        """Return the rewards that are set here: assignments first, then constructors."""
        return (*self._assigned(), *self._constructed())

    def _assigned(self) -> Iterator[RewardWrite]:
        for node in self.file.syntax.nodes:
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
                rewards = (
                    target
                    for target in targets_of(node)
                    if isinstance(target, ast.Attribute)
                    and target.attr == "reward"
                    and self.trajectories.is_one(target.value)
                )
                target = next(rewards, None)
                if node.value is not None and target is not None:
                    yield RewardWrite(node.value, node, target)

    def _constructed(self) -> Iterator[RewardWrite]:
        for call in self.trajectories.new:
            value = self.file.contents.given(call, "reward")
            if value is not None:
                yield RewardWrite(value, call)

    @cached_property
    def of_functions(self) -> tuple[tuple[ast.expr, Value], ...]:
        """Return what the user's reward functions return, each with where one is named.

        ``training.scored(score, ...)`` names them. Of a dict of parts, these are the parts.
        """
        found = []
        for call, _ in self.file.method_calls("scored"):
            if self.file.syntax.qualified(call.func) not in REWARDS or not call.args:
                continue
            function = self.file.flow.functions.called(self.file.syntax, call.args[0])
            if function is not None:
                syntax, place = function[0], Place(function[0])
                for value in return_values(syntax, function[1].qualname):
                    parts = value.values if isinstance(value, ast.Dict) else [value]
                    found += [(call.args[0], Value(each, place)) for each in parts]
        return tuple(found)

    @cached_property
    def has_other_writes(self) -> bool:
        """Return whether a ``reward`` is assigned in a way that ``writes`` does not cover."""
        known = {id(write.node) for write in self.writes}
        named = [
            node
            for node in self.file.syntax.nodes
            if isinstance(node, ast.Attribute) and node.attr == "reward"
        ]
        is_read = any(isinstance(node.ctx, ast.Load) for node in named)
        return any(
            isinstance(node.ctx, ast.Store)
            and id(self.file.syntax.parents[node]) not in known
            and (is_read or not self._is_of_another(node.value))
            for node in named
        )

    def _is_of_another(self, holder: ast.expr) -> bool:
        """Return whether it is ``self`` of a class that is no trajectory."""
        owner = self.file.syntax.class_around(self.file.syntax.owner(holder))
        return dotted(holder) == "self" and owner not in self.trajectories.classes

    @cached_property
    def may_be_set(self) -> bool:
        """Return whether anything in the file may set a reward, itself or out of sight."""
        return bool(self.writes) or self.may_be_set_out_of_sight

    @property
    def may_be_set_out_of_sight(self) -> bool:
        """Return whether something other than ``writes`` may set a reward."""
        return self.has_other_writes or self.may_be_set_elsewhere or self.may_be_given

    @cached_property
    def may_be_given(self) -> bool:
        """Return whether a call that is none of ``writes`` may set a reward."""
        known = {write.node for write in self.writes}
        return any(self._may_set(each) for each in self.file.calls if each not in known)

    def _may_set(self, call: ast.Call) -> bool:
        """Return whether a call gives a reward, or has trajectories or groups given."""
        if any(each.arg == "reward" for each in call.keywords):
            return not (_is_of_metrics(call) or self._makes_another(call))
        if call in self.file.recording_calls and _is_given_by_agent(call):
            return True
        called = self.file.flow.functions.called(self.file.syntax, call.func)
        if called is not None and called[0] is self.file.syntax:
            return False  # what it does is seen where it is defined
        name = dotted(call.func) or ast.unparse(call.func)
        last = name.rpartition(".")[2]
        if last == "ruler_score_group" or self._is_judge(call.func):
            return True
        of_art = self.file.art_name(call.func)
        of_art_itself = of_art is not None and not of_art.startswith("art.rewards")
        if last in LEAVES_TRAJECTORY or of_art_itself or self._is_helper(call.func):
            return False
        return any(
            self.trajectories.is_one(each) or self._is_group(each)
            for each in given_to(call)
        )

    def _makes_another(self, call: ast.Call) -> bool:
        """Return whether it makes an object of the file's own class, which is no trajectory."""
        made = self.file.flow.functions.class_made(self.file.syntax, call.func)
        return (
            made is not None
            and made[0] is self.file.syntax
            and made[1] not in self.trajectories.classes
        )

    def _is_helper(self, function: ast.expr) -> bool:
        """Return whether it is a train helper that sets no reward, or a method of what one made."""
        name = self.file.syntax.qualified(function) or ""
        if name.startswith(f"{TRAIN_HELPERS}."):
            return name not in REWARDS
        return isinstance(function, ast.Attribute) and any(
            made.startswith(f"{TRAIN_HELPERS}.")
            for made in self._makers(function.value)
        )

    def _is_judge(self, function: ast.expr) -> bool:
        """Return whether a train helper made a function, which scores the groups that it gets."""
        return not REWARDS.isdisjoint(self._makers(function))

    def _makers(self, expression: ast.expr) -> Iterator[str]:
        """Yield the full names of the functions whose results an expression may be."""
        for value in self.file.values(expression):
            made = awaited(value.node)
            if isinstance(made, ast.Call):
                yield value.syntax.qualified(made.func) or ""

    def _is_group(self, expression: ast.expr) -> bool:
        """Return whether it holds trajectories: a group, several, or what a gather gave."""
        if isinstance(expression, ast.Starred):
            expression = expression.value
        functions, here = self.file.flow.functions, self.file.flow.here(expression)
        is_property = functions.read(here) is not None
        if not is_property and functions.called(self.file.syntax, expression):
            return False  # a function that makes groups: map(self.group, rows)
        return TRAJECTORIES.search(dotted(expression) or "") is not None or any(
            isinstance(value.node, ast.Call)
            and self.file.art_name(value.node.func) in KNOWN
            for value in self.file.values(expression)
        )

    @cached_property
    def may_be_set_elsewhere(self) -> bool:
        """Return whether ``after_each`` of a gather, or ``setattr``, may set rewards."""
        return any(
            keyword(call, "after_each")
            for call in self.file.art_calls("gather_trajectory_groups")
        ) or any(dotted(call.func) == "setattr" for call in self.file.calls)

    @cached_property
    def may_be_judged(self) -> bool:
        """Return whether the file names RULER, or anything called a judge or a score."""
        syntax = self.file.syntax
        attributes = {n.attr for n in syntax.nodes if isinstance(n, ast.Attribute)}
        return any(map(MAY_JUDGE.search, (*used_names(syntax), *attributes)))


def _is_given_by_agent(call: ast.Call) -> bool:
    """Return whether the agent sets the reward: ``training.record(..., agent_rewards=True)``."""
    given = keyword(call, "agent_rewards")
    return given is not None and not (
        isinstance(given, ast.Constant) and not given.value
    )


def _is_of_metrics(call: ast.Call) -> bool:
    """Return whether it is ``trajectory.metrics.update(...)``."""
    updated = receiver(call, "update")
    return isinstance(updated, ast.Attribute) and updated.attr == "metrics"
