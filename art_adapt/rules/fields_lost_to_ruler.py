"""RULER returns new trajectories, so fields of a subclass are reset to their defaults

``ruler_score_group`` builds new trajectories: the fields of a subclass go back to their
defaults, and metadata, metrics and logs are gone. Code that logs or reads them after scoring
gets the defaults. A field without a default ends the gather with a ValidationError.

Call the lower-level ``art.rewards.ruler`` and set the rewards, as art-adapt's train modules
do.

Evidence: art 0.5.18, rewards/ruler.py:314-330; art 0.5.23, rewards/ruler.py:379-396.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART518", "fields-lost-to-ruler", Severity.UNTIDY)
BAD = (
    """\
import art
from art.rewards import ruler_score_group

class Episode(art.Trajectory):
    final_answer: str | None = None

async def score(group):
    return await ruler_score_group(group, "openai/o3")  # <-
""",
)
GOOD = (
    """\
import art
from art.rewards import ruler

class Episode(art.Trajectory):
    final_answer: str | None = None

async def score(group):
    scores = await ruler([t.messages() for t in group.trajectories])
    for trajectory, judged in zip(group.trajectories, scores, strict=True):
        trajectory.reward = judged.score
    return group
""",
)


def check(code: Code) -> Iterator[Found]:
    fields = [
        statement.target.id
        for node in code.trajectories.classes.values()
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
    ]
    for call in code.art_calls("ruler_score_group") if fields else ():
        yield found(
            call,
            f"the new trajectories lose {', '.join(fields)}, which go back to their "
            "defaults; use art.rewards.ruler",
        )
