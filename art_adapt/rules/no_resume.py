"""Training always starts at step 0, so a resumed run repeats scenarios

A restarted run continues with the weights of the last checkpoint, but this loop feeds it the
scenarios from the beginning: it trains again on those it has seen, and never reaches the rest.

Use ``iterate_dataset(..., initial_step=await model.get_step())``, or
``for step in range(await model.get_step(), STEPS)``.

Evidence: art 0.5.18 and 0.5.23, utils/iterate_dataset.py (initial_step).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import keyword, last_name
from art_adapt.code.syntax import LOOPS
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART509", "no-resume", Severity.WASTE)
BAD = (
    """\
import art

async def main(model, backend):
    for step in range(50):  # <-
        groups = await art.gather_trajectory_groups([])
        await backend.train(model, groups)
""",
    """\
import art
from art.utils import iterate_dataset

async def main(model, backend, scenarios):
    for batch in iterate_dataset(scenarios, groups_per_step=2):  # <-
        groups = await art.gather_trajectory_groups([])
        await backend.train(model, groups)
""",
)
GOOD = (
    BAD[0].replace("range(50):  # <-", "range(await model.get_step(), 50):"),
    BAD[1].replace(
        "groups_per_step=2):  # <-", "initial_step=await model.get_step()):"
    ),
)


def check(code: Code) -> Iterator[Found]:
    if any(code.method_calls("get_step")):
        return
    loops = {
        loop
        for call in code.training.calls
        if (loop := _outermost(code, call)) is not None
    }
    for loop in loops:
        if any(isinstance(node, ast.Continue) for node in code.blocks.inside(loop)):
            continue  # may skip the steps that are already done
        iterated = getattr(loop, "iter", None)
        values = (
            code.syntax.values_of(iterated) if isinstance(iterated, ast.Name) else []
        )
        iterated = values[0] if len(values) == 1 else iterated
        if not isinstance(iterated, ast.Call):
            continue
        name = last_name(iterated.func)
        begins = name == "iterate_dataset" and keyword(iterated, "initial_step") is None
        counts = name == "range" and len(iterated.args) == 1
        nested = any(isinstance(node, LOOPS) for node in _around(code, loop))
        if begins or (counts and not nested):
            yield found(
                iterated,
                "a restarted run counts from 0 again although its weights continue: start at "
                "await model.get_step()",
            )


def _around(code: Code, loop: ast.AST) -> Iterator[ast.AST]:
    """Yield the loops between ``loop`` and the training calls in it."""
    for call in code.training.calls:
        if code.blocks.within(call, loop):
            inner = code.syntax.enclosing_loop(call)
            while inner is not None and inner is not loop:
                yield inner
                inner = code.syntax.enclosing_loop(inner)


def _outermost(code: Code, call: ast.Call) -> ast.AST | None:
    loop, outer = None, code.syntax.enclosing_loop(call)
    while outer is not None:
        loop, outer = outer, code.syntax.enclosing_loop(outer)
    return loop
