"""Several choices are sampled but only one is used, so the others are wasted

``n=4`` makes the engine sample four answers, and the rollout continues with the first: three
quarters of the sampling is thrown away. If all of them are put on one trajectory, ART 0.5.18
trains the second on a context that contains the first.

Run more rollouts of the scenario instead: a group is what compares answers.

Evidence: art 0.5.18, preprocessing/tokenize.py:331-480; art 0.5.23,
preprocessing/tokenize.py:716-733.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART106", "unused-choices", Severity.WASTE)
BAD = (
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(model=model.name, messages=messages, n=4)  # <-
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
)
GOOD = (
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(model=model.name, messages=messages, n=4)
    best = max(response.choices, key=rate)
    trajectory.messages_and_choices.append(best)
    return trajectory
""",
)


def check(code: Code) -> Iterator[Found]:
    for call in code.completions.of_policy:
        count = code.completions.argument(call, "n")
        value = code.constant(count)
        if count is None or not isinstance(value, int) or value < 2:
            continue
        owner = code.syntax.owner(call.callee)
        others = [
            node
            for node in code.syntax.owned_by(owner)
            if isinstance(node, ast.Attribute)
            and node.attr == "choices"
            and not _is_first(code.syntax.parents.get(node))
        ]
        if not others:
            yield found(
                count,
                f"{value} choices are sampled but only one is used: run {value} rollouts",
            )


def _is_first(parent: ast.AST | None) -> bool:
    return (
        isinstance(parent, ast.Subscript)
        and isinstance(parent.slice, ast.Constant)
        and parent.slice.value == 0
    )
