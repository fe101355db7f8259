"""Metadata holds a list or a dict, so ART 0.5.18 raises and the episode is lost

ART 0.5.18 accepts only scalars as metadata: a list or dict in the constructor raises a
ValidationError. ART 0.5.20 and newer accept any value.

Evidence: art 0.5.18, trajectories.py (MetadataValue); art 0.5.20,
trajectories/__init__.py:99.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import dotted, receiver
from art_adapt.rules.code import Code, Value
from art_adapt.rules.code.annotated import annotation
from art_adapt.rules.code.contents import FIELDS
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.words import DUMPS_DICT

RULE = Rule("ART307", "container-in-metadata", Severity.WASTE, until="0.5.20")
BAD = (
    """\
import art

async def rollout(model, scenario):
    return art.Trajectory(metadata={"id": 1, "moves": []})  # <-
""",
    """\
import art
from dataclasses import asdict

async def rollout(model, note):
    return art.Trajectory(
        metadata={"id": 1, "note": asdict(note), "place": note.place.model_dump()}  # <-
    )
""",
)
GOOD = (
    """\
import art, json

async def rollout(model, scenario):
    return art.Trajectory(metadata={"id": 1, "moves": json.dumps([1, 2]), "name": scenario.name})
""",
)

BUILTINS = ("list", "dict", "set", "sorted")
TYPES = ("list", "dict", "set", "tuple", "List", "Dict", "Set", "Tuple", "Sequence")


def check(code: Code) -> Iterator[Found]:
    groups = [
        call
        for call in code.art_calls("TrajectoryGroup")
        if (code.art_name(call.func) or "").endswith(".TrajectoryGroup")
    ]
    for call in (*code.trajectories.new, *groups):
        lost = "the run ends" if call in groups else "the episode is lost"
        given = code.contents.given(call, "metadata")
        for at, each in () if given is None else code.contents.entries(given):
            if all(_is_container(code, value) for value in code.values(each)):
                yield found(
                    at,
                    "ART 0.5.18 accepts only scalars in metadata: this raises and "
                    f"{lost}; store it with json.dumps",
                )


def _is_container(code: Code, value: Value) -> bool:
    node = value.node
    if isinstance(node, ast.Call) and (
        dotted(node.func) in (*BUILTINS, *FIELDS) or receiver(node, *DUMPS_DICT)
    ):
        return True
    if isinstance(
        node, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp
    ):
        return True
    annotated = annotation(code.flow, value).strip("'")
    return annotated.partition("[")[0].rpartition(".")[2] in TYPES
