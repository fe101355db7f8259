"""Groups are made once and used in every turn of a loop, which raises or trains on old episodes

``art.TrajectoryGroup(rollout(...) for ...)`` holds coroutines that have not run. A coroutine
runs once: when the same groups are gathered again, ART raises a RuntimeError, whatever
``max_exceptions`` allows, after the first step has been paid for.

Groups that were gathered before the loop are the first policy's: from the second step on,
``backend.train`` moves the weights by episodes that they would not play any more.

A list to which each turn adds its groups, and which is trained as a whole, has the same effect: it
holds all earlier steps.

Build and gather the groups inside the loop.

Evidence: art 0.5.18 and 0.5.23, gather.py (``gather_trajectory_groups`` awaits each group);
local/backend.py (``train`` takes the groups as they are).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.dependence import made_from
from art_adapt.code.nodes import (
    dotted,
    first_argument,
    given_to,
    names_in,
    names_set_in,
)
from art_adapt.rules.code import Code
from art_adapt.rules.code.training import makes_group
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART541", "reused-groups", Severity.WASTE)
BAD = (
    """\
import art

async def main(model, backend, scenarios):
    groups = [art.TrajectoryGroup(rollout(model, s) for _ in range(4)) for s in scenarios]
    for _ in range(10):
        done = await art.gather_trajectory_groups(groups, max_exceptions=9)  # <-
        await backend.train(model, done)
""",
    """\
import art

async def main(model, backend, scenarios):
    groups = []
    for s in scenarios:
        groups.append(art.TrajectoryGroup(rollout(model, s) for _ in range(4)))
    while await model.get_step() < 10:
        done = await art.gather_trajectory_groups(groups=groups)  # <-
        await backend.train(model, done)
""",
    """\
import art

async def main(model, backend, scenarios):
    groups = await art.gather_trajectory_groups(
        (art.TrajectoryGroup(rollout(model, s) for _ in range(4)) for s in scenarios),
        max_exceptions=9,
    )
    for step in range(await model.get_step(), 20):
        result = await backend.train(model, groups, learning_rate=1e-5)  # <-
        await model.log(groups, split="train", metrics=result.metrics, step=result.step)
""",
    """\
import art

async def run(model, backend, batches, rollout):
    groups = []
    for batch in batches:
        groups += await art.gather_trajectory_groups(
            (art.TrajectoryGroup(rollout(model, s) for _ in range(8)) for s in batch), max_exceptions=8
        )
        await backend.train(model, groups)  # <-
""",
    """\
import art

async def run(model, backend, batches, rollout):
    groups = []
    for batch in batches:
        groups.extend(await art.gather_trajectory_groups(
            (art.TrajectoryGroup(rollout(model, s) for _ in range(8)) for s in batch), max_exceptions=8
        ))
        await backend.train(model, groups)  # <-
""",
    """\
import art
from art.rewards import ruler_score_group

async def run(model, backend, batches, rollout):
    judged = []
    for batch in batches:
        fresh = await art.gather_trajectory_groups(
            (art.TrajectoryGroup(rollout(model, s) for _ in range(8)) for s in batch), max_exceptions=8
        )
        for group in fresh:
            judged.append(await ruler_score_group(group, "openai/o4-mini"))
        await backend.train(model, judged)  # <-
""",
    """\
import art

class Trainer:
    def __init__(self, model, backend):
        self.model, self.backend = model, backend
        self.pool = []

    def offer(self, groups):
        self.pool += [g for g in groups if len({t.reward for t in g}) > 1]
        return len(self.pool) > 7

    async def update(self):
        return await self.backend.train(self.model, self.pool)  # <-

async def main(model, backend, batches, rollout):
    trainer = Trainer(model, backend)
    for batch in batches:
        groups = await art.gather_trajectory_groups(
            art.TrajectoryGroup(rollout(model, s) for _ in range(8)) for s in batch
        )
        if trainer.offer(groups):
            await trainer.update()
""",
    """\
import art
from collections import deque

class Replay:
    def __init__(self, model, backend):
        self.model, self.backend = model, backend
        self.buffer: deque[art.TrajectoryGroup] = deque(maxlen=512)

    async def collect(self, groups):
        self.buffer.extend(await art.gather_trajectory_groups(groups))

    async def update(self):
        return await self.backend.train(self.model, list(self.buffer))  # <-

async def main(model, backend, batches, rollout):
    replay = Replay(model, backend)
    for batch in batches:
        await replay.collect(
            art.TrajectoryGroup(rollout(model, s) for _ in range(8)) for s in batch
        )
        await replay.update()
""",
)
GOOD = (
    """\
import art

async def main(model, backend, scenarios):
    for _ in range(10):
        groups = [art.TrajectoryGroup(rollout(model, s) for _ in range(4)) for s in scenarios]
        done = await art.gather_trajectory_groups(groups)
        await backend.train(model, done)

async def once(model, backend, scenarios):
    groups = [art.TrajectoryGroup(rollout(model, s) for _ in range(4)) for s in scenarios]
    for _ in range(10):
        done = await art.gather_trajectory_groups(groups)
        await backend.train(model, done)
        groups = [art.TrajectoryGroup(rollout(model, s) for _ in range(4)) for s in scenarios]

async def emptied(model, scenarios):
    groups = [art.TrajectoryGroup(rollout(model, s) for _ in range(4)) for s in scenarios]
    for _ in range(10):
        await art.gather_trajectory_groups(groups)
        groups.clear()
        groups.extend(fresh(model, scenarios))

async def only_one(model, scenarios, tries):
    groups = [art.TrajectoryGroup(rollout(model, s) for _ in range(4)) for s in scenarios]
    for _ in range(tries):
        return await art.gather_trajectory_groups(groups)
""",
    """\
import art

async def tried(model, backend, scenarios):
    groups = await art.gather_trajectory_groups(make(model, s) for s in scenarios)
    for _ in range(3):
        try:
            return await backend.train(model, groups)
        except TimeoutError:
            print("again")

async def until_done(model, backend, scenarios):
    groups = await art.gather_trajectory_groups(make(model, s) for s in scenarios)
    done = False
    while not done:
        try:
            await backend.train(model, groups)
            done = True
        except TimeoutError:
            print("again")

async def passes(model, backend, scenarios):
    for step in range(await model.get_step(), 10):
        groups = await art.gather_trajectory_groups(make(model, s) for s in scenarios)
        for epoch in range(2):
            await backend.train(model, groups)

async def several(models, backend, scenarios):
    groups = await art.gather_trajectory_groups(make(models[0], s) for s in scenarios)
    for model in models:
        await backend.train(model, groups)

async def next_ones(model, backend, scenarios):
    groups = await art.gather_trajectory_groups(make(model, s) for s in scenarios)
    for _ in range(9):
        await backend.train(model, groups)
        groups = await art.gather_trajectory_groups(make(model, s) for s in scenarios)
""",
    """\
import art

async def run(model, backend, batches, rollout):
    groups = []
    for batch in batches:
        groups += await art.gather_trajectory_groups(
            (art.TrajectoryGroup(rollout(model, s) for _ in range(8)) for s in batch), max_exceptions=8
        )
        await backend.train(model, groups)
        groups.clear()
""",
    """\
import art

async def run(model, backend, batches, rollout):
    for batch in batches:
        groups = []
        groups += await art.gather_trajectory_groups(
            (art.TrajectoryGroup(rollout(model, s) for _ in range(8)) for s in batch), max_exceptions=8
        )
        await backend.train(model, groups)
""",
    """\
import art

class Trainer:
    def __init__(self, model, backend):
        self.model, self.backend = model, backend
        self.pool = []

    def offer(self, groups):
        self.pool += [g for g in groups if len({t.reward for t in g}) > 1]

    async def update(self):
        await self.backend.train(self.model, self.pool)
        self.pool = []

async def main(model, backend, batches, rollout):
    trainer = Trainer(model, backend)
    for batch in batches:
        trainer.offer(await art.gather_trajectory_groups(
            art.TrajectoryGroup(rollout(model, s) for _ in range(8)) for s in batch
        ))
        await trainer.update()
""",
)


def check(code: Code) -> Iterator[Found]:
    yield from _trained_again(code)
    yield from _gathered_up(code)
    yield from _kept_by_self(code)
    for gather in code.art_calls("gather_trajectory_groups"):
        groups = first_argument(gather, "groups")
        loop = code.syntax.enclosing_loop(gather)
        if not isinstance(groups, ast.Name) or loop is None or _may_end(loop):
            continue
        inside = set(ast.walk(loop))
        written = [
            node
            for node in code.syntax.owned_by(code.syntax.owner(gather))
            if isinstance(node, ast.Name)
            and node.id == groups.id
            and (isinstance(node.ctx, ast.Store) or _is_changed(code, node))
            and (isinstance(node.ctx, ast.Store) or node in inside)
        ]
        held = list(code.contents.elements(groups))
        if (
            written
            and inside.isdisjoint(written)
            and held
            and all(makes_group(each) and each.node not in inside for each in held)
        ):
            yield found(
                groups,
                "these groups are built once, and their coroutines run once: the second "
                "turn of the loop raises a RuntimeError; build them inside the loop",
            )


def _trained_again(code: Code) -> Iterator[Found]:
    """Yield the groups that were gathered before the loop which trains on them."""
    for call in code.training.calls:
        loop = code.syntax.enclosing_loop(call)
        if loop is None or _may_end(loop) or not code.has(code.flow.here(call)):
            continue
        if code.is_caught(call):
            continue  # the next turn may try it again
        inside = set(ast.walk(loop))
        turning = names_set_in(loop)
        for given in given_to(call):
            if not isinstance(given, ast.Name) or given.id in turning:
                continue
            gathered = code.values(given)
            made_before = gathered and all(
                isinstance(each.node, ast.Call)
                and each.node not in inside
                and code.has(each)
                and code.syntax.owner(each.node) == code.syntax.owner(call)
                and code.syntax.enclosing_loop(each.node) is None
                and each.node in code.art_calls("gather_trajectory_groups")
                for each in gathered
            )
            others = {n for each in given_to(call) for n in names_in(each)} - {given.id}
            owner = dotted(getattr(call.func, "value", None))
            is_of_turn = not turning.isdisjoint(others | {owner or ""})
            changed = any(
                _is_changed(code, n) for n in code.reads(given.id, call) if n in inside
            )
            if made_before and not is_of_turn and not changed:
                yield found(
                    given,
                    "these groups are gathered once, before the loop: each step but the first "
                    "trains on episodes of old weights; gather them inside the loop",
                )


def _gathered_up(code: Code) -> Iterator[Found]:
    """Yield the lists to which each turn adds its groups, and which are trained as a whole."""
    gathers = set(code.art_calls("gather_trajectory_groups"))
    for call in code.training.calls:
        loop = code.syntax.enclosing_loop(call)
        if loop is None or _may_end(loop):
            continue
        names = [n for n in code.blocks.inside(loop) if isinstance(n, ast.Name)]
        for given in given_to(call):
            if not isinstance(given, ast.Name):
                continue
            uses = [name for name in names if name.id == given.id]
            grown = [name for name in uses if _is_grown(code, name)]
            stored = [n for n in uses if not isinstance(n.ctx, ast.Load)]
            owner = code.syntax.owner(call)
            added = made_from(code.syntax, owner, [_statement(code, n) for n in grown])
            if (
                not gathers.isdisjoint(added)
                and all(name in grown for name in stored)
                and not any(_is_cut(code, name) for name in uses)
            ):
                yield found(
                    given,
                    "each turn adds its groups and trains on all: later steps train on episodes "
                    "of old weights again; begin a new list in the loop",
                )


def _kept_by_self(code: Code) -> Iterator[Found]:
    """Yield the lists of an object that only grow, and are trained as a whole in a loop."""
    for call in code.training.calls:
        for whole in given_to(call) if code.training.loops(call) else ():
            given = whole
            if isinstance(whole, ast.Call) and dotted(whole.func) in ("list", "tuple"):
                given = next(iter(given_to(whole)), whole)
            if (
                not isinstance(given, ast.Attribute)
                or dotted(given) != f"self.{given.attr}"
            ):
                continue
            begun = f"{code.syntax.class_around(code.syntax.owner(call))}.__init__"
            uses = [
                node
                for node in code.syntax.nodes
                if isinstance(node, ast.Attribute)
                and node.attr == given.attr
                and code.syntax.owner(node) != begun
            ]
            grown = [each for each in uses if _is_grown(code, each)]
            if (
                grown
                and all(e in grown for e in uses if not isinstance(e.ctx, ast.Load))
                and not any(_is_cut(code, each) for each in uses)
                and "setattr(" not in code.source.text
            ):
                yield found(
                    given,
                    "this list only grows and is trained as a whole: later steps train on episodes "
                    "of old weights again; empty it after each step",
                )


def _is_grown(code: Code, name: ast.Name | ast.Attribute) -> bool:
    """Return whether groups are added to a list: by ``+=`` or a method."""
    around = code.syntax.parents[name]
    return isinstance(around, ast.AugAssign) or (
        isinstance(around, ast.Attribute) and around.attr in ("extend", "append")
    )


def _is_cut(code: Code, name: ast.Name | ast.Attribute) -> bool:
    """Return whether a list is emptied, or a part of it is replaced or deleted."""
    around = code.syntax.parents[name]
    removes = ("clear", "pop", "remove")
    return (isinstance(around, ast.Attribute) and around.attr in removes) or (
        isinstance(around, ast.Subscript) and not isinstance(around.ctx, ast.Load)
    )


def _statement(code: Code, node: ast.AST) -> ast.AST:
    return next(o for o in code.syntax.ancestors(node) if isinstance(o, ast.stmt))


def _may_end(loop: ast.AST) -> bool:
    """Return whether a loop may have one turn only."""
    once = isinstance(loop, ast.For) and ast.unparse(loop.iter) == "range(1)"
    return once or any(
        isinstance(node, ast.Return | ast.Break) for node in ast.walk(loop)
    )


def _is_changed(code: Code, name: ast.Name) -> bool:
    """Return whether a method of a list is called, or a part of it is set."""
    around = code.syntax.parents[name]
    return isinstance(around, ast.Attribute) or (
        isinstance(around, ast.Subscript) and not isinstance(around.ctx, ast.Load)
    )
