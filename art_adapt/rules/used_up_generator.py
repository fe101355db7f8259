"""Groups are a generator that something else has used up, so training gets none

A generator can be gone through once. After ``model.log(groups)``, or a loop that prints, it is
empty: ``backend.train`` gets no group, skips the step with a warning, and counts it all the same.

Make it a list: ``groups = [g for g in gathered if len(g) > 1]``.

Evidence: Python, "Generator iterators"; art 0.5.18, model.py:820 (``log`` goes through the groups)
and local/backend.py:749; art 0.5.23, model.py and local/backend.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import dotted, last_name
from art_adapt.rules.code import Code, Value
from art_adapt.rules.rule import Fix, Found, Rule, Severity, found, replace

RULE = Rule("ART549", "used-up-generator", Severity.GARBAGE)
BAD = (
    """\
import art

async def step(model, backend, gathered):
    groups = (group for group in gathered if len(group) > 1)
    await model.log(groups, split="train")
    await backend.train(model, groups, learning_rate=1e-5)  # <-
""",
    """\
import art

async def step(model, backend, gathered, judge):
    groups = filter(None, [await judge(group) for group in gathered])
    for group in groups:
        print(group.trajectories[0].reward)
    await backend.train(model, groups)  # <-
""",
    """\
import art

async def step(model, backend, gathered):
    groups = map(scaled, gathered)
    rewards = [t.reward for group in groups for t in group]
    print(rewards)
    result = await backend.train(model, trajectory_groups=groups)  # <-
    return result
""",
    """\
import art

def informative(groups):
    return (group for group in groups if len({t.reward for t in group}) > 1)

def scaled(groups):
    for group in groups:
        yield art.TrajectoryGroup(group.trajectories)

async def step(model, backend, gathered):
    groups = informative(gathered)
    await model.log(groups, split="train")
    await backend.train(model, groups)  # <-
    again = scaled(gathered)
    await model.log(again, split="train")
    await backend.train(model, again)  # <-
""",
)
LISTED = BAD[0].replace("(group for", "[group for").replace("> 1)", "> 1]")
GOOD = (
    LISTED.replace("  # <-", ""),
    BAD[1]
    .replace("  # <-", "")
    .replace(
        "filter(None, [await judge(group) for group in gathered])", "list(gathered)"
    ),
    """\
import art

async def step(model, backend, gathered):
    groups = (group for group in gathered if len(group) > 1)
    groups = list(groups)
    await model.log(groups, split="train")
    await backend.train(model, groups)

async def either(model, backend, gathered, dry):
    groups = (group for group in gathered if len(group) > 1)
    if dry:
        await model.log(groups, split="train")
        return
    print(groups)
    await backend.train(model, groups)
""",
)
FIXED = LISTED

LAZY = ("map", "filter", "zip", "iter")
# Calls that look at a generator and leave it as it is.
LOOKING = ("print", "isinstance", "type", "id", "repr", "str")


def check(code: Code) -> Iterator[Found]:
    for call in code.training.calls:
        named = (value for _, value in code.contents.arguments(call))
        for given in (*call.args, *named):
            if not isinstance(given, ast.Name):
                continue
            made = _generator(code, given)
            if made is not None and _is_used_before(code, given, call):
                yield found(
                    given,
                    f"{ast.unparse(given)} is a generator that was gone through above: training "
                    "gets no group; make it a list",
                    _as_list(code, made),
                )


def _generator(code: Code, name: ast.expr) -> Value | None:
    """Return what makes the only value of a name, if that can be gone through once."""
    made = code.aliases.values(name)  # a list of it is another object
    return made[0] if len(made) == 1 and _is_lazy(code, made[0]) else None


def _is_lazy(code: Code, value: Value) -> bool:
    if not isinstance(value.node, ast.Call):
        return isinstance(value.node, ast.GeneratorExp)
    body = code.flow.functions.enter(value)
    if body is None:
        return dotted(value.node.func) in LAZY
    yields = (ast.Yield, ast.YieldFrom)
    return not body.function.node.decorator_list and any(
        isinstance(node, yields) for node in body.nodes
    )


def _is_used_before(code: Code, given: ast.Name, call: ast.Call) -> bool:
    """Return whether something certainly has gone through it before the training call."""
    reaching = {id(each.node) for each in code.syntax.definitions.reaching(given)}
    for read in code.reads(given.id, given):
        if (
            (read.lineno, read.col_offset) < (call.lineno, call.col_offset)
            and {id(e.node) for e in code.syntax.definitions.reaching(read)} == reaching
            and not code.blocks.exclude(read, given)
            and _goes_through(code, read)
        ):
            return True
    return False


def _goes_through(code: Code, read: ast.Name) -> bool:
    parent = code.syntax.parents.get(read)
    if isinstance(parent, ast.keyword):
        parent = code.syntax.parents.get(parent)
    if isinstance(parent, ast.Call) and read is not parent.func:
        return last_name(parent.func) not in LOOKING
    return isinstance(parent, ast.For | ast.comprehension | ast.Starred) and (
        getattr(parent, "iter", read) is read
    )


def _as_list(code: Code, value: Value) -> Fix | None:
    """Return the fix of a generator expression that stands in parentheses of its own."""
    made, text = value.node, code.source.text
    if (
        not code.has(value)
        or not isinstance(made, ast.GeneratorExp)
        or made.lineno != made.end_lineno
    ):
        return None
    line = text.splitlines()[made.lineno - 1].encode()
    inner = line[made.col_offset + 1 : (made.end_col_offset or 0) - 1].decode()
    return Fix("make it a list", (replace(made, f"[{inner}]"),))
