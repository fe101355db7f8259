"""A list of learning rates has fewer values than train_sft makes batches, so it raises

``TrainSFTConfig(learning_rate=[...])`` takes one value a *batch*, not an epoch. ART makes
``ceil(trajectories / batch_size)`` batches, and one value too few ends the run before anything is
trained: a list of three for three epochs, or ``len(rows) // batch_size`` values.

Give one number, or ``math.ceil(len(rows) / batch_size)`` values.

Evidence: art 0.5.18, types.py (TrainSFTConfig) and local/backend.py:1036-1049 (``next`` of the
list's iterator); art 0.5.23, local/backend.py:1928 (an index of the list).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.dependence import made_from
from art_adapt.code.nodes import argument_of, dotted
from art_adapt.rules.code import Code, Value
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART552", "too-few-rates", Severity.WASTE)
BAD = (
    """\
import art

RATES = [1e-4, 5e-5, 2e-5]

async def warm_up(model, traces):
    await model.train_sft(traces, art.TrainSFTConfig(learning_rate=RATES, batch_size=8))  # <-
""",
    """\
import art

def schedule(n, peak):
    steps = n // 8
    return [peak * (1 - i / steps) for i in range(steps)]

async def warm_up(model, traces):
    config = art.TrainSFTConfig(learning_rate=schedule(len(traces), 1e-4), batch_size=8)  # <-
    await model.train_sft(traces, config)
""",
)
GOOD = (
    """\
import art, math

def schedule(n, peak):
    steps = math.ceil(n / 8)
    return [peak * (1 - i / steps) for i in range(steps)]

def rounded_up(n, peak):
    return [peak for _ in range((n + 7) // 8)]

async def warm_up(model, traces, rates):
    art.TrainSFTConfig(learning_rate=schedule(len(traces), 1e-4), batch_size=8)
    art.TrainSFTConfig(learning_rate=rounded_up(len(traces), 1e-4), batch_size=8)
    art.TrainSFTConfig(learning_rate=[1e-4])
    await model.train_sft(traces, art.TrainSFTConfig(learning_rate=5e-5))
    await model.train_sft(traces, art.TrainSFTConfig(learning_rate=rates))
""",
)


def check(code: Code) -> Iterator[Found]:
    for call in code.art_calls("TrainSFTConfig"):
        rates = argument_of(call, "learning_rate", ("learning_rate", "batch_size"))
        values = () if rates is None else code.values(rates)
        if rates is None or not values:
            continue
        if all(map(_is_written, values)):
            what = "this list has one learning rate a batch, not an epoch"
        elif all(map(_is_rounded_down, values)):
            what = (
                "// leaves the last batch, which is not full, without a learning rate"
            )
        else:
            continue
        yield found(rates, f"{what}: train_sft raises before anything is trained")


def _is_written(value: Value) -> bool:
    """Return whether a list has several values, all written out."""
    node = value.node
    return (
        isinstance(node, ast.List)
        and len(node.elts) > 1
        and all(isinstance(each, ast.Constant) for each in node.elts)
    )


def _is_rounded_down(value: Value) -> bool:
    """Return whether a list is made for ``n // size`` batches."""
    node = value.node
    if not isinstance(node, ast.ListComp) or len(node.generators) != 1:
        return False
    counted = node.generators[0].iter
    if not (isinstance(counted, ast.Call) and dotted(counted.func) == "range"):
        return False
    syntax = value.syntax
    made_of = made_from(syntax, syntax.owner(node), counted.args)
    return any(
        isinstance(each, ast.BinOp)
        and isinstance(each.op, ast.FloorDiv)
        and not isinstance(each.left, ast.BinOp | ast.UnaryOp)
        for each in made_of
    )
