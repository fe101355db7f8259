"""Find the training calls, and the groups that are trained on."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from art_adapt.rules.code.file import File
from art_adapt.rules.code.trajectories import Trajectories
from art_adapt.survey.nodes import dotted

GROUPS = {"trajectory_groups", "groups"}  # what backend.train calls them


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
            for call in self.file.method_calls("train")
            if isinstance(call.func, ast.Attribute)
            and (name := dotted(call.func.value)) is not None
            and ("backend" in name.lower() or name.rpartition(".")[2] == "model")
            and (call.args or {k.arg for k in call.keywords} & GROUPS)
        )

    @cached_property
    def whole_loop(self) -> bool:
        """Whether the file both makes rollouts and trains on them.

        What such a file does not do is done nowhere.
        """
        return (
            bool(self.trajectories.new)
            and any(self.file.art_calls("TrajectoryGroup"))
            and any(self.calls)
        )

    def is_trained_on(self, group: ast.Call) -> bool:
        """Return whether a training call gets the groups that ``group`` belongs to.

        The call must come before their name is assigned another value.
        """
        syntax = self.file.syntax
        for ancestor in syntax.ancestors(group):
            if isinstance(ancestor, ast.Assign):
                name = dotted(ancestor.targets[0])
                break
            if isinstance(ancestor, ast.stmt):
                return False
        else:
            return False
        owner = syntax.owner(ancestor)
        line = ancestor.lineno
        again = [
            value.lineno
            for where, value in syntax.assignments.get(name or "", [])
            if where == owner and value.lineno > (ancestor.end_lineno or line)
        ]
        until = min(again, default=10**9)
        return any(
            syntax.owner(call) == owner
            and line < call.lineno <= until
            and name in _given_names(call)
            for call in self.calls
        )


def _given_names(call: ast.Call) -> set[str | None]:
    """Return the names among the arguments of a call, and in lists among them."""
    given = [*call.args, *(each.value for each in call.keywords)]
    lists = [each for each in given if isinstance(each, ast.List)]
    return {
        dotted(each) for each in (*given, *(e for one in lists for e in one.elts))
    } - {None}
