"""A group is rebuilt from its trajectories, so its exceptions and metadata are lost

``art.TrajectoryGroup(group.trajectories)`` has no exceptions, metadata, metrics or logs: the
number of failed rollouts is missing from the logs. On ART 0.5.18
``exceptions=group.exceptions`` raises; assign the attribute instead.

Evidence: art 0.5.18, trajectories.py:155-172; art 0.5.23, trajectories/_compat.py:19-25.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART516", "rebuilt-group", Severity.UNTIDY)
BAD = (
    """\
import art

def best(group):
    return art.TrajectoryGroup([t for t in group.trajectories if t.reward > 0])  # <-
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
        if len(call.args) == 1 and any(
            isinstance(node, ast.Attribute) and node.attr == "trajectories"
            for node in ast.walk(call.args[0])
        ):
            yield found(call, "the rebuilt group loses its exceptions and metadata")
