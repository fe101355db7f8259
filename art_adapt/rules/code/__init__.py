"""Present one file of ART code as the rules read it.

Each module here covers one subject, and imports only modules above it:

- ``reaching``: which definitions of a name reach each statement
- ``definitions``: which definitions of a name reach its use
- ``functions``: which function of the project a call enters
- ``flow``: what an expression may stand for
- ``contents``: what a mapping has under a key, what a list holds
- ``annotated``: how a value is annotated
- ``file``: calls, what names mean, constants
- ``blocks``: what stands after and inside a statement
- ``uses``: what becomes of an object
- ``callbacks``: what ``after_each`` of a gather calls
- ``copies``: which lists trajectories are made of, and whether they grow later
- ``trajectories``: where trajectories are made, and what is put on them
- ``retries``: what runs a function again after an error
- ``models``: which expressions are models of ART
- ``rewards``: where rewards are set
- ``completions``: which calls ask the model in training
- ``sampled``: which part of a completion an expression is
- ``training``: which groups are trained on
- ``sides``: whether a group has several sides of one game
- ``untrained``: which branches are for models that are not trained
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from art_adapt.code.nodes import Function, argument_of, dotted, last_name
from art_adapt.rules.code.blocks import LEAVING, Blocks, below
from art_adapt.rules.code.callbacks import Callback, Callbacks
from art_adapt.rules.code.completions import Completions, is_api_model
from art_adapt.rules.code.file import File
from art_adapt.rules.code.models import Models
from art_adapt.rules.code.retries import Retries
from art_adapt.rules.code.rewards import Rewards, RewardWrite
from art_adapt.rules.code.sampled import Kind, Sampled
from art_adapt.rules.code.training import Training
from art_adapt.rules.code.trajectories import Put, Trajectories
from art_adapt.rules.code.uses import Uses
from art_adapt.rules.code.values import Body, Value
from art_adapt.rules.target import UNKNOWN, Target
from art_adapt.span import Span
from art_adapt.survey.calls.completion_calls import FoundCall
from art_adapt.survey.calls.roles import Role, stated_role
from art_adapt.words import EVALUATION_FILE

__all__ = [
    "LEAVING",
    "Body",
    "Callback",
    "Code",
    "Kind",
    "Put",
    "RewardWrite",
    "Value",
    "below",
    "is_api_model",
]


@dataclass(frozen=True)
class Code(File):
    """A file, and a view of it for each subject, made when a rule first asks."""

    target: Target = UNKNOWN
    exported: bool = False  # from a notebook, with lines that are not Python

    def decided_role(self, call: FoundCall) -> Role:
        """Return the role that adapting decides on for a call of this file."""
        if call.function in self.target.auxiliary:
            return Role.AUXILIARY
        if self._policy_calls is None:
            return stated_role(call, self.completions.calls)[0]
        is_policy = Span.of(call.callee) in self._policy_calls
        return Role.POLICY if is_policy else Role.AUXILIARY

    @cached_property
    def _policy_calls(self) -> frozenset[Span] | None:
        # Few files are asked about, and the survey takes as long to import as the rules.
        from art_adapt.rules.code.decided import policy_calls

        return None if self.exported else policy_calls(self.source)

    @cached_property
    def given_to_wrap(self) -> tuple[ast.expr, ...]:
        """Return the expressions that ``wrap_rollout(model, fn)`` gets."""
        given = (
            argument_of(call, "fn", ("model", "fn"))
            for call in self.calls
            if (dotted(call.func) or "").endswith("wrap_rollout")
        )
        return tuple(each for each in given if each is not None)

    def given_function(self, expression: ast.expr) -> Function | None:
        """Return the function of this file that is meant where one is passed on.

        Through ``partial(f, x)`` and ``retry()(f)``, as the method of an object, and as an
        object that can be called.
        """
        for value in self.values(expression):
            node = value.node
            if isinstance(node, ast.Call):
                called = f"{dotted(node.func)}.__call__"
                if called in self.syntax.functions:
                    return self.syntax.functions[called]
                around = isinstance(node.func, ast.Call) or (
                    last_name(node.func) == "partial"
                )
                return (
                    self.given_function(node.args[0]) if node.args and around else None
                )
            found = self.flow.functions.called(value.syntax, node)
            if found is not None and found[0] is self.syntax:
                return found[1]
        return None

    @cached_property
    def wrapped_rollouts(self) -> tuple[Function, ...]:
        """Return the functions that ``wrap_rollout`` gets: it fills their trajectories."""
        found = [self.given_function(each) for each in self.given_to_wrap]
        if any(self.art_calls("init_chat_model")):  # which only works inside of it
            makers = {self.syntax.owner(call) for call in self.trajectories.new}
            found += [self.syntax.functions.get(name) for name in sorted(makers)]
        return tuple(dict.fromkeys(each for each in found if each is not None))

    @cached_property
    def only_evaluates(self) -> bool:
        """Return whether the file is a script that runs rollouts and trains on none."""
        if self.training.calls:
            return False
        if EVALUATION_FILE.search(self.source.path.stem):
            return True
        grouped = any(self.art_calls("TrajectoryGroup", "gather_trajectory_groups"))
        if grouped or "__main__" not in self.source.text:
            return False
        # Its rollout may be trained by a file beside it.
        return not any(b"TrajectoryGroup" in text for text in self.importers)

    blocks = cached_property(lambda self: Blocks(self.syntax))
    uses = cached_property(lambda self: Uses(self.syntax))
    callbacks = cached_property(Callbacks)
    trajectories = cached_property(Trajectories)
    retries = cached_property(Retries)
    models = cached_property(Models)
    rewards = cached_property(lambda self: Rewards(self, self.trajectories))
    completions = cached_property(lambda self: Completions(self, self.trajectories))
    sampled = cached_property(lambda self: Sampled(self, self.completions))
    training = cached_property(lambda self: Training(self, self.trajectories))
