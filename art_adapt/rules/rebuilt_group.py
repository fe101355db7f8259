"""A group is rebuilt from its trajectories, so its exceptions and metadata are lost

``art.TrajectoryGroup(group.trajectories)`` has no exceptions, metadata, metrics or logs: the
number of failed rollouts is missing from the logs. On ART 0.5.18
``exceptions=group.exceptions`` raises; assign the attribute instead.

Evidence: art 0.5.18, trajectories.py:155-172; art 0.5.23, trajectories/_compat.py:19-25.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.dependence import made_from
from art_adapt.code.nodes import bound_names
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART516", "rebuilt-group", Severity.UNTIDY)
BAD = (
    """\
import art

def best(group):
    return art.TrajectoryGroup([t for t in group.trajectories if t.reward > 0])  # <-
""",
    """\
import art

async def step(model, backend, scenarios, rollout):
    finished = await art.gather_trajectory_groups(
        (art.TrajectoryGroup(rollout(model, s) for _ in range(8)) for s in scenarios)
    )
    kept = []
    for group in finished:
        good = []
        for trajectory in group:
            if not trajectory.metrics.get("broken"):
                good.append(trajectory)
        kept.append(art.TrajectoryGroup(good))  # <-
    await backend.train(model, kept)
""",
)
GOOD = (
    """\
import art

def best(group):
    kept = art.TrajectoryGroup([t for t in group.trajectories if t.reward > 0], metadata={})
    kept.exceptions = group.exceptions
    return kept
""",
)


def check(code: Code) -> Iterator[Found]:
    if ".exceptions" in code.source.text:
        return
    for call in code.art_calls("TrajectoryGroup"):
        given = [
            *call.args,
            *(k.value for k in call.keywords if k.arg == "trajectories"),
        ]
        alone = len(call.args) + len(call.keywords) == 1
        if alone and given and _is_taken_from_a_group(code, call, given[0]):
            yield found(call, "the rebuilt group loses its exceptions and metadata")


def _is_taken_from_a_group(code: Code, call: ast.Call, given: ast.expr) -> bool:
    """Return whether trajectories come from another group: its list, or the group itself.

    That is ``group.trajectories``, or ``for trajectory in group`` of gathered groups.
    """
    syntax = code.syntax
    made_of = made_from(syntax, syntax.owner(call), [given])
    if any(isinstance(n, ast.Attribute) and n.attr == "trajectories" for n in made_of):
        return True
    gathered = set(code.art_calls("gather_trajectory_groups"))
    gone_through = (
        each.iter
        for each in syntax.nodes
        if isinstance(each, ast.For | ast.comprehension)
    )
    return any(
        each in made_of and _is_one_of(code, each, gathered) for each in gone_through
    )


def _is_one_of(code: Code, group: ast.expr, gathered: set[ast.Call]) -> bool:
    """Return whether a name goes through groups that were gathered."""
    if not isinstance(group, ast.Name):
        return False
    owner = code.syntax.owner(group)
    several = (
        each.iter
        for each in code.syntax.owned_by(owner)
        if isinstance(each, ast.For | ast.comprehension)
        and group.id in bound_names([each.target])
    )
    return any(
        not gathered.isdisjoint(made_from(code.syntax, owner, [each]))
        for each in several
    )
