"""Tells policy calls from auxiliary ones: a judge, a guard, another model's summary."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from enum import StrEnum

from art_adapt.survey.completion_calls import FoundCall

SIDE_JOB = re.compile(
    r"judg|grader|grading|evaluat|critic|moderat|guardrail|guard_|summari[sz]|compact|title|rubric|rerank",
    re.IGNORECASE,
)


class Role(StrEnum):
    """Whether the model behind a completion call is the one to train."""

    POLICY = "policy"
    AUXILIARY = "auxiliary"


def role_of(call: FoundCall, others: Sequence[FoundCall]) -> tuple[Role, str]:
    """Decide whether ``call`` asks the model to train, and give the reason.

    A name that suggests a side job is not enough: calls on the agent's own model are
    recorded until the user says otherwise, because a completion missing from a trajectory
    does more harm than one too many.
    """
    if call.marked_auxiliary:
        return Role.AUXILIARY, "marked by the comment 'art: auxiliary'"
    model = call.syntax.text(call.model) if call.model is not None else ""
    client = call.syntax.text(call.client)
    for what, text in (("model", model), ("client", client)):
        if SIDE_JOB.search(text):
            return Role.AUXILIARY, f"its {what} {text} is named like a side job"
    job = SIDE_JOB.search(call.function)
    if not job:
        return Role.POLICY, "a completion call of the agent"
    own = _literal(call)
    main = {
        _literal(other) for other in others if not SIDE_JOB.search(other.function)
    } - {None}
    if own is not None and main and own not in main:
        return Role.AUXILIARY, f"{call.function} runs on another model ({own})"
    return (
        Role.POLICY,
        f"{call.function} sounds like a side job but may run on the agent's model; --auxiliary {call.function} keeps it out",
    )


def _literal(call: FoundCall) -> str | None:
    """The model's name, where the file spells it out."""
    if call.model is None:
        return None
    for value in (call.model, *call.syntax.values_of(call.model)):
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return value.value
    return None
