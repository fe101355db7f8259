"""Two models that are trained have one name and project, so they share their checkpoints

A backend keeps a model's checkpoints, its history and its engine by project and name (ART 0.5.20
and newer: by ``run_name``). Two ``TrainableModel`` of the same names are one: each step of the one
is the other's next, and both are served by the same adapter.

Give each its own name.

Evidence: art 0.5.18, local/backend.py:408 (services by name) and utils/output_dirs.py:109-112;
art 0.5.23, local/backend.py:344 and model.py (``_storage_name``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations

from art_adapt.code.nodes import dotted, targets_of
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART553", "same-model-name", Severity.GARBAGE)
BAD = (
    """\
import art

COMMON = dict(name="red", project="team", base_model="b")

async def main(backend):
    attacker = art.TrainableModel(**COMMON)
    defender = art.TrainableModel(**COMMON)  # <-
    await attacker.register(backend)
    await defender.register(backend)
""",
)
GOOD = (
    """\
import art

COMMON = dict(project="team", base_model="b")

async def main(backend, other):
    attacker = art.TrainableModel(name="attacker", **COMMON)
    defender = art.TrainableModel(name="defender", **COMMON)
    await attacker.register(backend)
    await defender.register(backend)
    again = art.TrainableModel(name="attacker", **COMMON)
    print(again.name)

async def runs(backend):
    one = art.TrainableModel(name="a", run_name="one", **COMMON)
    two = art.TrainableModel(name="a", run_name="two", **COMMON)
    await one.register(backend)
    await two.register(backend)

async def one_of(backend, small):
    if small:
        model = art.TrainableModel(name="a", project="p", base_model="small")
        await model.register(backend)
    else:
        model = art.TrainableModel(name="a", project="p", base_model="large")
        await model.register(backend)
""",
)


def check(code: Code) -> Iterator[Found]:
    registered = {
        value.node
        for _, model in code.method_calls("register")
        for value in code.values(model)
    }
    made: dict[tuple[object, ...], list[ast.Call]] = {}
    for call in code.art_calls("TrainableModel"):
        kept_by = (code.models.kept_by(call), "project")
        key = tuple(_constant(code, call, name) for name in kept_by)
        if ... not in key and call in registered:
            made.setdefault((code.syntax.owner(call), *key), []).append(call)
    for same in made.values():
        for one, other in combinations(same, 2):
            if _name(code, one) != _name(code, other):
                yield found(
                    other,
                    f"this is the model of line {one.lineno}: both train one checkpoint, by "
                    "one name and project; give each its own name",
                )
                break


def _constant(code: Code, call: ast.Call, name: str) -> object:
    return code.constant(code.contents.given(call, name))


def _name(code: Code, call: ast.Call) -> list[str | None]:
    return [dotted(each) for each in targets_of(code.syntax.parents.get(call))]
