"""Metadata holds a list or a dict, so ART 0.5.18 raises and the episode is lost

ART 0.5.18 accepts only scalars as metadata: a list or dict in the constructor raises a
ValidationError. ART 0.5.23 accepts any value.

Evidence: art 0.5.18, trajectories.py (MetadataValue); art 0.5.23,
trajectories/__init__.py:101.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.nodes import dotted, keyword

RULE = Rule("ART307", "container-in-metadata", Severity.WASTE)
BAD = (
    """\
import art

async def rollout(model, scenario):
    return art.Trajectory(metadata={"id": 1, "moves": []})  # <-
""",
)
GOOD = (
    """\
import art, json

async def rollout(model, scenario):
    return art.Trajectory(metadata={"id": 1, "moves": json.dumps([1, 2]), "name": scenario.name})
""",
)


def check(code: Code) -> Iterator[Found]:
    for call in code.trajectories.new:
        given = keyword(call, "metadata")
        for value in given.values if isinstance(given, ast.Dict) else ():
            made = isinstance(value, ast.Call) and dotted(value.func) in (
                "list",
                "dict",
                "set",
            )
            if made or isinstance(
                value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp
            ):
                yield found(
                    value,
                    "ART 0.5.18 accepts only scalars in metadata: this raises and the "
                    "episode is lost; store it with json.dumps",
                )
