"""A group mixes scenarios, so the advantage reflects their difficulty, not the policy

A group with one episode of each scenario compares different tasks with each other: easy
scenarios get a positive advantage and hard ones a negative one, whatever the model did.

Make one group per scenario, with several episodes of it.

Evidence: art 0.5.18, preprocessing/tokenize.py:247-257; art 0.5.23,
preprocessing/tokenize.py:762-778 (the advantage is relative to the group's mean).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.nodes import dotted

RULE = Rule("ART502", "mixed-scenarios", Severity.GARBAGE)
BAD = (
    """\
import art

async def train(model, backend, scenarios):
    groups = await art.gather_trajectory_groups(
        [art.TrajectoryGroup(rollout(model, scenario) for scenario in scenarios)]  # <-
    )
    await backend.train(model, groups)
""",
)
GOOD = (
    """\
import art

async def train(model, backend, scenarios):
    groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(model, scenario) for _ in range(8))
        for scenario in scenarios
    )
    await backend.train(model, groups)
    seeds = await art.gather_trajectory_groups(
        [art.TrajectoryGroup(rollout(model, i) for i in range(8))]
    )
    await backend.train(model, seeds)
""",
)


def check(code: Code) -> Iterator[Found]:
    for call in code.art_calls("TrajectoryGroup"):
        members = call.args[0] if call.args else None
        if not isinstance(members, ast.GeneratorExp | ast.ListComp):
            continue
        if len(members.generators) != 1 or not code.training.is_trained_on(call):
            continue
        each = members.generators[0]
        if (
            isinstance(each.target, ast.Name)
            and isinstance(each.iter, ast.Name | ast.Attribute)
            and _is_several(each.iter)
            and not _is_of_comprehension(code, call, each.iter)
            and isinstance(members.elt, ast.Call)
            and any(
                isinstance(node, ast.Name) and node.id == each.target.id
                for node in ast.walk(members.elt)
            )
        ):
            yield found(
                call,
                "this group mixes scenarios: easy ones are rewarded and hard ones punished, "
                "whatever the model did; make one group per scenario",
            )


def _is_of_comprehension(code: Code, call: ast.Call, name: ast.expr) -> bool:
    """Return whether an outer comprehension makes the list, perhaps of one scenario."""
    return any(
        isinstance(node, ast.Name) and node.id == dotted(name)
        for ancestor in code.syntax.ancestors(call)
        if isinstance(ancestor, ast.GeneratorExp | ast.ListComp)
        for generator in ancestor.generators
        for node in ast.walk(generator.target)
    )


def _is_several(iterated: ast.Name | ast.Attribute) -> bool:
    name = iterated.id if isinstance(iterated, ast.Name) else iterated.attr
    return any(
        word in name.lower()
        for word in (
            "scenario",
            "task",
            "question",
            "problem",
            "item",
            "prompt",
            "example",
        )
    )
