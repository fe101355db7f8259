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
from functools import partial

from art_adapt.code.dependence import made_from
from art_adapt.code.nodes import (
    bound_names,
    dotted,
    last_name,
    names_in,
)
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
    """\
import art
from art.utils import iterate_dataset

async def main(model, backend, scenarios):
    for epoch in range(3):  # <-
        for batch in scenarios:
            print("step", await model.get_step())
            groups = await art.gather_trajectory_groups([])
            await backend.train(model, groups)

async def other(model, backend, scenarios):
    for batch in iterate_dataset(scenarios, groups_per_step=2, initial_step=0):  # <-
        groups = await art.gather_trajectory_groups([])
        await backend.train(model, groups)
""",
    """\
import art

def batches(rows, size):
    for start in range(0, len(rows), size):
        yield start // size, rows[start : start + size]

async def main(model, backend, rows):
    for step, batch in batches(rows, 4):  # <-
        groups = await art.gather_trajectory_groups([])
        await backend.train(model, groups)
""",
    """\
import art

async def main(model, backend, rows, steps):
    step = 0
    while step < steps:  # <-
        groups = await art.gather_trajectory_groups([])
        await backend.train(model, groups)
        step += 1
""",
    """\
import art
from art.utils import iterate_dataset

LOOP = {"groups_per_step": 2, "num_epochs": 3}

def batches(rows):
    yield from iterate_dataset(rows, **LOOP)

async def main(model, backend, rows):
    for batch in batches(rows):  # <-
        groups = await art.gather_trajectory_groups([])
        await backend.train(model, groups)
""",
)
GOOD = (
    BAD[4].replace("step = 0", "step = await model.get_step()").replace("  # <-", ""),
    BAD[4].replace("step += 1", "step = result.step").replace("  # <-", ""),
    BAD[0].replace("range(50):  # <-", "range(await model.get_step(), 50):"),
    BAD[1].replace(
        "groups_per_step=2):  # <-", "initial_step=await model.get_step()):"
    ),
    """\
import art, asyncio

async def step(model, backend, groups):
    for attempt in range(3):
        try:
            async with asyncio.timeout(1800):
                await backend.train(model, groups)
                break
        except Exception:
            await asyncio.sleep(10)
""",
    """\
import art

async def more(model, backend, pool, steps):
    last_step = await model.get_step()
    for _ in range(steps):
        groups = await art.gather_trajectory_groups([pool.pop()], pbar_desc=f"{last_step}")
        result = await backend.train(model, groups)
        last_step = result.step
""",
    """\
import art, random

async def main(model, backend, rows):
    start = await model.get_step()
    for offset in range(50):
        step = start + offset
        groups = await art.gather_trajectory_groups([], pbar_desc=f"step {step}")
        await backend.train(model, groups)
""",
    """\
import art

def batches(rows, size, first=0):
    for start in range(first * size, len(rows), size):
        yield rows[start : start + size]

async def main(model, backend, rows, done):
    for batch in batches(rows, 4, first=done):
        groups = await art.gather_trajectory_groups([])
        await backend.train(model, groups)
""",
    """\
import art
from art.utils import iterate_dataset

async def main(model, backend, rows, gather, options):
    for batch in iterate_dataset(rows, **options):
        await backend.train(model, await gather(model, batch.items))
""",
)


def check(code: Code) -> Iterator[Found]:
    for call in code.training.calls:
        anew = _counted_anew(code, call)
        if anew is not None:
            yield found(
                anew,
                "a restarted run counts from 0 again although its weights continue: start at "
                "await model.get_step()",
            )


def _counted_anew(code: Code, call: ast.Call) -> ast.Call | ast.While | None:
    """Return what the outermost loop of the innermost function that counts steps goes through."""
    for loops in code.training.levels(call):
        if not loops:
            continue
        loop = loops[-1]
        if code.syntax.left_after(call, loop) or _is_resumed(code, loop):
            return None
        if isinstance(loop, ast.While) and _counts_from_zero(code, loop):
            return loop
        iterated = getattr(loop, "iter", None)
        values = (
            code.syntax.values_of(iterated) if isinstance(iterated, ast.Name) else []
        )
        iterated = values[0] if len(values) == 1 else iterated
        if isinstance(iterated, ast.Call) and _begins_anew(code, iterated):
            return iterated
    return None


def _is_resumed(code: Code, loop: ast.AST) -> bool:
    """Return whether a loop depends on the step that was reached, or skips what is done."""
    header = [getattr(loop, name, None) for name in ("iter", "test")]
    in_header = (node for each in filter(None, header) for node in ast.walk(each))
    inside = set(code.blocks.inside(loop)).difference(in_header)
    owner = code.syntax.owner(loop)
    if isinstance(loop, ast.For) and not _is_read(code, loop):
        outside = (c for c, _ in code.method_calls("get_step") if c not in inside)
        if any(_is_used(code, c) for c in outside if code.syntax.owner(c) == owner):
            return True  # it counts how many steps are added to those of before
    if any(_skips(code, loop, node) for node in inside):
        return True
    counted = [*header, *(node.iter for node in inside if isinstance(node, ast.For))]
    # step = start + offset goes on from there, whatever the loop counts.
    counted += [n for n in inside if isinstance(n, ast.BinOp | ast.Compare)]
    made_of = made_from(code.syntax, owner, filter(None, counted))
    asked = [node.test for node in inside if isinstance(node, ast.If) and _leaves(node)]
    leaving = made_from(code.syntax, owner, asked)
    return any(
        call in leaving or (call in made_of and call not in inside)
        for call, _ in code.method_calls("get_step")
    )


def _is_used(code: Code, call: ast.Call) -> bool:
    """Return whether something reads the step that a statement asks for."""
    around = (e for e in code.syntax.ancestors(call) if isinstance(e, ast.Assign))
    named = next((dotted(each.targets[0]) for each in around), None)
    return bool(code.reads(named, call))


def _is_read(code: Code, loop: ast.For) -> bool:
    """Return whether something reads what a loop counts."""
    counted = bound_names([loop.target])
    return any(name != "_" and code.reads(name, loop) for name in counted)


def _leaves(branch: ast.If) -> bool:
    """Return whether a branch ends the loop: it goes on to a step, and not for a number of them."""
    return any(isinstance(node, ast.Break | ast.Return) for node in branch.body)


def _skips(code: Code, loop: ast.AST, node: ast.AST) -> bool:
    """Return whether it goes on with the next step where this one is below some other."""
    around = code.syntax.parents.get(node)
    if not isinstance(node, ast.Continue) or not isinstance(around, ast.If):
        return False
    counted = set(bound_names([getattr(loop, "target", ast.Tuple([]))]))
    return any(
        isinstance(each, ast.Compare)
        and isinstance(each.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE | ast.In)
        and not counted.isdisjoint(names_in(each))
        for each in ast.walk(around.test)
    )


def _counts_from_zero(code: Code, loop: ast.While) -> bool:
    """Return whether a loop ends by a number that is 0 before it, and one more each time."""
    asked = [loop.test] + [
        each.test for each in loop.body if isinstance(each, ast.If) and _leaves(each)
    ]
    return any(
        isinstance(node, ast.Name | ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and any(map(partial(_is_one_more, node), loop.body))
        and _begins_at_zero(code, node)
        for test in asked
        if isinstance(test, ast.Compare)
        for node in (test.left, *test.comparators)
    )


def _is_one_more(counter: ast.expr, statement: ast.stmt) -> bool:
    """Return whether a statement adds a number to a counter."""
    name = dotted(counter)
    if isinstance(statement, ast.AugAssign):
        added: ast.expr | None = statement.value
        return (
            dotted(statement.target) == name
            and isinstance(statement.op, ast.Add)
            and isinstance(added, ast.Constant)
        )
    return (
        isinstance(statement, ast.Assign)
        and dotted(statement.targets[0]) == name
        and isinstance(statement.value, ast.BinOp)
        and dotted(statement.value.left) == name
        and isinstance(statement.value.right, ast.Constant)
    )


def _begins_at_zero(code: Code, counter: ast.expr) -> bool:
    """Return whether nothing but 0 and one more is ever assigned to a counter."""
    name = dotted(counter) or ""
    owner = code.syntax.owner(counter)
    written = [
        value
        for where, value in code.syntax.assignments.get(name, [])
        if where == owner or name.startswith("self.")
    ]
    grows = [dotted(each.left) for each in written if isinstance(each, ast.BinOp)]
    begins = [each for each in written if not isinstance(each, ast.BinOp)]
    return (
        bool(begins)
        and all(each == name for each in grows)
        and all(isinstance(b, ast.Constant) and b.value == 0 for b in begins)
    )


def _begins_anew(code: Code, iterated: ast.Call) -> bool:
    """Return whether a loop's steps are counted from 0, whatever was trained before."""
    name = last_name(iterated.func)
    if name == "iterate_dataset":
        first = code.contents.given(iterated, "initial_step")
        may_resume = code.contents.may_give(iterated, "initial_step")
        return not may_resume if first is None else code.constant(first) == 0
    if name == "enumerate" and len(iterated.args) == 1:
        inner = iterated.args[0]
        if isinstance(inner, ast.Call):
            return _begins_anew(code, inner)
    if name == "count":
        return not iterated.args and not iterated.keywords
    if name == "range":
        alone = len(iterated.args) == 1
        return alone and not isinstance(iterated.args[0], ast.Starred)
    return _generates_from_the_start(code, iterated)


def _generates_from_the_start(code: Code, call: ast.Call) -> bool:
    """Return whether a generator of this file yields its first batch first, however it is called."""
    body = code.entered(call)
    if body is None:
        return False
    nodes = list(body.nodes)
    handed = [node.value for node in nodes if isinstance(node, ast.YieldFrom)]
    if handed and not any(isinstance(node, ast.Yield) for node in nodes):
        return body.place.syntax is code.syntax and all(
            isinstance(each, ast.Call) and _begins_anew(code, each) for each in handed
        )
    loops = [node for node in nodes if isinstance(node, ast.For)]
    yields = any(isinstance(node, ast.Yield) for node in nodes)
    if any(isinstance(node, ast.While) for node in nodes):
        return False  # it may yield for ever, in whatever order
    skips = any(isinstance(node, ast.Continue) for node in nodes)
    starts = [each.iter for each in loops if any(_yields_in(each))]
    return yields and not skips and bool(starts) and all(map(_is_whole, starts))


def _yields_in(loop: ast.For) -> Iterator[ast.AST]:
    return (node for node in ast.walk(loop) if isinstance(node, ast.Yield))


def _is_whole(iterated: ast.expr) -> bool:
    """Return whether a loop goes through all of something: rows, or numbers from 0."""
    if not isinstance(iterated, ast.Call):
        return isinstance(iterated, ast.Name)
    if dotted(iterated.func) == "range" and iterated.args:
        first = iterated.args[0]
        from_zero = isinstance(first, ast.Constant) and first.value == 0
        return len(iterated.args) == 1 or from_zero
    return last_name(iterated.func) in ("enumerate", "zip") and len(iterated.args) == 1
