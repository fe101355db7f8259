"""A field is set that art.Trajectory does not have, so the value or the episode is lost

``art.Trajectory(final_answer=...)`` silently drops the argument, and
``trajectory.final_answer = ...`` raises inside the rollout: the episode is lost. A misspelt
``rewards=`` leaves the reward at 0.0.

Declare the field, with a default, in a subclass of ``art.Trajectory``.

Evidence: art 0.5.18, trajectories.py (pydantic ignores extra fields); art 0.5.23,
trajectories/__init__.py:606.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import dotted
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART308", "undeclared-field", Severity.WASTE)
FIELDS = frozenset(
    [
        "messages_and_choices",
        "tools",
        "additional_histories",
        "reward",
        "initial_policy_version",
        "final_policy_version",
        "metrics",
        "metadata",
        "logs",
        "start_time",
        "exchanges",
    ]
)
BAD = (
    """\
import art

async def rollout(model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[], scenario=scenario)  # <-
    trajectory.final_answer = "42"  # <-
    return trajectory
""",
)
GOOD = (
    """\
import art

class Episode(art.Trajectory):
    final_answer: str | None = None

async def rollout(model, scenario):
    trajectory = Episode(messages_and_choices=[], final_answer="")
    trajectory.final_answer = "42"
    other = art.Trajectory(messages_and_choices=[], reward=1.0, metadata={}, logs=[])
    other.start_time = 1
    return trajectory
""",
)


def check(code: Code) -> Iterator[Found]:
    for call in code.trajectories.new:
        if code.art_name(call.func) is None:
            continue
        for name, value in code.contents.arguments(call):
            if name not in (*FIELDS, "messages"):
                yield found(
                    value,
                    f"art.Trajectory has no field {name}: the argument is silently "
                    "dropped; declare it in a subclass",
                )
    for node in code.syntax.nodes:
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            if (
                isinstance(target, ast.Attribute)
                and target.attr not in FIELDS
                and dotted(target.value) is not None
                and code.trajectories.is_plain(target.value)
            ):
                yield found(
                    target,
                    f"art.Trajectory has no field {target.attr}: this raises and the "
                    "episode is lost; declare it in a subclass",
                )
