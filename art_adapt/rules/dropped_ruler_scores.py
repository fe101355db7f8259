"""The result of RULER is discarded, so training uses the old rewards

``ruler_score_group`` builds a new group of new trajectories and does not change the given one.
If its result is not used, training uses the previous rewards: 0.0 if none were set.

Train on what it returns: ``groups = [await ruler_score_group(g) for g in groups]``, or
``after_each=lambda group: ruler_score_group(group, judge)``.

Evidence: art 0.5.18, rewards/ruler.py:314-330 and 365; art 0.5.23, rewards/ruler.py:379-396
and 433.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART504", "dropped-ruler-scores", Severity.GARBAGE)
BAD = (
    """\
import art
from art.rewards import ruler_score_group

async def score(groups):
    for group in groups:
        await ruler_score_group(group, "openai/o3")  # <-
    return groups
""",
    """\
import art
from art.rewards import ruler_score_group

async def score(groups):
    for group in groups:
        judged = await ruler_score_group(group, "openai/o3")  # <-
    return groups
""",
)
GOOD = (
    """\
import art
from art.rewards import ruler_score_group

async def score(groups):
    judged = []
    for group in groups:
        scored = await ruler_score_group(group, "openai/o3")
        judged.append(scored)
    return judged
""",
)
MESSAGE = (
    "ruler_score_group returns a new group and does not change this one: the scores are "
    "lost; train on the group it returns"
)


def check(code: Code) -> Iterator[Found]:
    for call in code.art_calls("ruler_score_group"):
        parent = code.syntax.parents.get(call)
        if not isinstance(parent, ast.Await):
            continue
        statement = code.syntax.parents.get(parent)
        if isinstance(statement, ast.Expr) or (
            isinstance(statement, ast.Assign) and not _is_read(code, statement)
        ):
            yield found(call, MESSAGE)


def _is_read(code: Code, statement: ast.Assign) -> bool:
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or target.id == "_":
        return True
    return any(
        isinstance(node, ast.Name)
        and node.id == target.id
        and isinstance(node.ctx, ast.Load)
        for node in code.syntax.nodes
    )
