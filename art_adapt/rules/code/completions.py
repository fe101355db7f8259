"""Find the completion calls of the policy, and the arguments they are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from art_adapt.rules.code.file import File, dict_item
from art_adapt.rules.code.trajectories import Trajectories
from art_adapt.survey.completion_calls import FoundCall, find_completion_calls
from art_adapt.survey.nodes import keyword
from art_adapt.survey.roles import Role, stated_role

API_MODELS = ("gpt-", "o1", "o3", "o4", "openai/", "claude", "anthropic/", "gemini")


def is_api_model(name: str | None) -> bool:
    """Return whether it is a model behind an API, which nobody trains with ART."""
    return (
        name is not None
        and name.lower().startswith(API_MODELS)
        and "gpt-oss" not in name
    )


@dataclass(frozen=True)
class Completions:
    """The completion calls of a file."""

    file: File
    trajectories: Trajectories

    @cached_property
    def calls(self) -> tuple[FoundCall, ...]:
        recorded = self.file.hooks("recorded")
        return tuple(find_completion_calls(self.file.syntax, recorded))

    @cached_property
    def by_call(self) -> dict[ast.Call, FoundCall]:
        """The completion calls by their ``ast.Call``."""
        return {call.call: call for call in self.calls if call.call is not None}

    @cached_property
    def of_policy(self) -> tuple[FoundCall, ...]:
        """Policy calls: those in a rollout, and recorded ones of an adapted file."""
        return tuple(
            call
            for call in self.calls
            if call.call is not None
            and (call.recorded or self.trajectories.in_rollout(call.callee))
            and self.may_be_trained(call)
        )

    def may_be_trained(self, call: FoundCall) -> bool:
        """Return whether it may be a policy call: no side job, no model of an API."""
        return (
            not is_api_model(self.literal_model(call))
            and stated_role(call, self.calls)[0] is Role.POLICY
        )

    def literal_model(self, call: FoundCall) -> str | None:
        """Return the name of the model if the file says it."""
        model = call.model or self.argument(call, "model")
        if model is None:
            return None
        values = (model, *self.file.syntax.values_of(model))
        return next(
            (
                value.value
                for value in values
                if isinstance(value, ast.Constant) and isinstance(value.value, str)
            ),
            None,
        )

    def argument(self, call: FoundCall, name: str) -> ast.expr | None:
        """Return an argument of the request.

        It is also found in ``extra_body`` and ``**options``, if those are written in
        this function.
        """
        if call.call is None:
            return None
        value = keyword(call.call, name)
        if value is not None:
            return value
        given = [keyword(call.call, "extra_body")]
        for argument in call.call.keywords:
            if argument.arg is None:
                values = self.file.syntax.values_of(argument.value)
                given += values if len(values) == 1 else [argument.value]
        written = [dict_item(each, name) for each in given if each is not None]
        return next((each for each in written if each is not None), None)

    def sampled_with(self, name: str) -> Iterator[tuple[ast.expr, object]]:
        """Yield an argument of each policy call, with its value if that is constant.

        Recorded calls are left out: in a rollout, the train module sets their sampling.
        """
        for call in self.of_policy:
            given = self.argument(call, name)
            if given is not None and not call.recorded:
                yield given, self.file.constant(given)
