"""Fields of a subclass are read after RULER, which has reset them to their defaults

``ruler_score_group`` builds new trajectories: the fields of a subclass go back to their
defaults, and the group's metadata, metrics and logs are gone. A reward that is computed from a field
after scoring sees the default. A field without a default ends the gather with a ValidationError.

Read the fields before scoring, or call the lower-level ``art.rewards.ruler`` and set the rewards, as
art-adapt's train modules do.

Evidence: art 0.5.18, rewards/ruler.py:314-330; art 0.5.23, rewards/ruler.py:379-396.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART518", "fields-lost-to-ruler", Severity.GARBAGE)
BAD = (
    """\
import art
from art.rewards import ruler_score_group

class Episode(art.Trajectory):
    citations: list[str] = []

async def score(group):
    judged = await ruler_score_group(group, "openai/o3")
    for trajectory in judged.trajectories:
        if not trajectory.citations:  # <-
            trajectory.reward = 0.0
    return judged
""",
    """\
import art
from art.rewards import ruler_score_group

class Episode(art.Trajectory):
    question: str

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
    """\
import art
from art.rewards import ruler_score_group

class Episode(art.Trajectory):
    citations: list[str] = []

async def score(group):
    judged = await ruler_score_group(group, "openai/o3")
    for old, new in zip(group.trajectories, judged.trajectories, strict=True):
        if not old.citations:
            new.reward = 0.0
    return judged
""",
    """\
import art
from art.rewards import ruler_score_group

class Episode(art.Trajectory):
    citations: list[str] = []

async def score(group):
    judged = await ruler_score_group(group, "openai/o3")
    for old, new in zip(group.trajectories, judged.trajectories, strict=True):
        new.citations = old.citations
    return [each.citations for each in judged.trajectories]
""",
)


# What the new trajectories are made with.
KEPT = (
    *("messages_and_choices", "tools", "additional_histories", "reward", "metrics"),
    *("metadata", "logs"),
)


def check(code: Code) -> Iterator[Found]:
    fields = {
        statement.target.id: statement.value
        for node in code.trajectories.classes.values()
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and statement.target.id not in KEPT
        and "ClassVar" not in ast.unparse(statement.annotation)
    }
    if not fields:
        return
    required = [name for name, default in fields.items() if default is None]
    for call in code.art_calls("ruler_score_group") if required else ():
        yield found(
            call,
            f"the new trajectories have no {', '.join(required)}: this raises; use "
            "art.rewards.ruler",
        )
    for read in _read_after_scoring(code, fields):
        yield found(
            read,
            f"RULER has made new trajectories: {read.attr} is its default here; read it "
            "before, or use art.rewards.ruler",
        )


def _read_after_scoring(
    code: Code, fields: dict[str, ast.expr | None]
) -> list[ast.Attribute]:
    """Return where fields of scored trajectories are read that nothing sets on them again."""
    of_scored = [
        node
        for node in code.syntax.nodes
        if isinstance(node, ast.Attribute)
        and node.attr in fields
        and code.trajectories.is_scored_by_ruler(node.value)
    ]
    put_back = {each.attr for each in of_scored if isinstance(each.ctx, ast.Store)}
    return [each for each in of_scored if each.attr not in put_back]
