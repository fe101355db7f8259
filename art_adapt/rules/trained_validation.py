"""Groups that are logged as validation are trained on, so validation measures nothing

A model that is trained on the scenarios that it is measured by gets better at these, whatever
it does elsewhere. ``val/reward`` then rises with every step, and the best checkpoint is the one
that has learnt them by heart.

Train on the other groups, and only log these.

``rows[:900], rows[800:]`` are no split: a hundred rows are in both. The same holds for
``rows[: int(len(rows) * 0.9)]`` and ``rows[int(len(rows) * 0.85) :]``.

Evidence: art 0.5.18 and 0.5.23, model.py (``Model.log``, ``delete_checkpoints``: the best
``val/reward`` decides which checkpoint stays).
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from art_adapt.code.nodes import (
    argument_of,
    dotted,
    first_argument,
    given_to,
    last_name,
    names_in,
    receiver,
)
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART545", "trained-validation", Severity.GARBAGE)
BAD = (
    """\
import art

async def main(model, backend, rollouts, held_out):
    for step in range(10):
        groups = await art.gather_trajectory_groups(rollouts)
        held = await art.gather_trajectory_groups(held_out)
        await model.log(held, split="val", step=step)
        result = await backend.train(model, groups + held)  # <-
        await model.log(groups, split="train", metrics=result.metrics)
""",
    """\
import art

async def main(model, backend, rollouts, held_out):
    for step in range(10):
        groups = await art.gather_trajectory_groups(rollouts)
        held = await art.gather_trajectory_groups(held_out)
        groups.extend(held)  # <-
        await model.log(trajectories=held, split="val", step=step)
        await backend.train(model, groups)
        await backend.train(model, [*groups, *held])  # <-
        groups += held  # <-
        await backend.train(model, groups)
""",
    """\
import art

async def main(model, backend, rollouts, held_out):
    for step in range(10):
        groups = await art.gather_trajectory_groups(rollouts)
        if step % 5 == 0:
            held = await art.gather_trajectory_groups(held_out)
            await model.log(held, split="val", step=step)
            groups += held  # <-
        await backend.train(model, groups)
""",
    """\
import art, random

def split_tasks(tasks):
    shuffled = random.sample(tasks, len(tasks))
    return shuffled[:900], shuffled[800:]  # <-

def load(rows):
    train = rows[:100]
    val = rows[50:120]  # <-
    test_rows, train_rows = rows[-20:], rows[:-10]  # <-
    return train, val, test_rows, train_rows

def load_twice(path, rng, size):
    rows = open(path).readlines()
    rng.shuffle(rows)
    train = rows[size:]
    rng.shuffle(rows)
    val = rows[:size]  # <-
    return train, val

def load_words(words):
    train_words = words[: int(len(words) * 0.9)]
    val_words = words[-200:] if len(words) < 1000 else words[int(len(words) * 0.8) :][:200]  # <-
    return train_words, val_words

async def main(model, backend, groups):
    await backend.train(model, groups)
""",
    """\
import art
from art.utils import iterate_dataset

async def whole(model, backend, gather, load):
    rows = load()
    val_rows = rows[:40]
    for batch in iterate_dataset(rows, initial_step=await model.get_step()):  # <-
        await backend.train(model, await gather(model, batch.items))
        await model.log(await gather(model, val_rows), split="val")

async def both(model, backend, gather, data):
    corpus = data.train + data.val  # <-
    for batch in iterate_dataset(corpus, initial_step=await model.get_step()):
        await backend.train(model, await gather(model, batch.items))
        await model.log(await gather(model, data.val), split="val")
""",
    """\
import art
from dataclasses import dataclass

@dataclass
class Phase:
    split: str
    rollouts: int

PHASES = {"train": Phase("train", 8), "val": Phase("val", 4)}

class Experiment:
    def __init__(self, model, backend):
        self.model, self.backend = model, backend

    async def run_phase(self, phase: Phase, rows):
        groups = await art.gather_trajectory_groups(
            art.TrajectoryGroup(self.rollout(r) for _ in range(phase.rollouts)) for r in rows
        )
        result = await self.backend.train(self.model, groups)  # <-
        await self.model.log(groups, split=phase.split, step=result.step)

    async def run(self, rows, held_out):
        await self.run_phase(PHASES["train"], rows)
        await self.run_phase(PHASES["val"], held_out)
""",
    """\
import art
from itertools import chain

async def main(model, backend, wrap, batches, held_out):
    for batch in batches:
        pending, checks = wrap(batch.items, "train"), wrap(held_out, "val")
        everything = await art.gather_trajectory_groups(chain(pending, checks), max_exceptions=9)
        validation = [group for group in everything if group.metadata["split"] == "val"]
        await model.log(validation, split="val", step=batch.step)
        await backend.train(model, everything)  # <-
""",
    """\
import art, random
from typing import NamedTuple

class Split(NamedTuple):
    train: list
    val: list
    test: list

def split(items, val=0.1, test=0.1):
    rows = sorted(items, key=lambda item: item.id)
    random.Random(7).shuffle(rows)
    n_test, n_val = int(len(items) * test), int(len(items) * val)
    return Split(train=rows[n_test:], val=rows[n_test : n_test + n_val], test=rows[:n_test])  # <-

async def main(model, backend, rollout, items):
    data = split(items)
    for row in data.train:
        groups = await art.gather_trajectory_groups([rollout(model, row)])
        await backend.train(model, groups)
""",
)
GOOD = (
    """\
import art

def load(path, other, rng, size):
    rows = open(path).readlines()
    rng.shuffle(rows)
    train = rows[size:]
    rng.shuffle(train)
    val = rows[:size]
    return train, val

def load_both(path, other, rng, size):
    rows = open(path).readlines()
    train = rows[size:]
    rows = open(other).readlines()
    rng.shuffle(rows)
    val = rows[:size]
    return train, val

async def main(model, backend, groups):
    await backend.train(model, groups)
""",
    BAD[-3].replace(
        "        result = await self.backend.train(self.model, groups)  # <-",
        '        if phase.split == "train":\n            await self.backend.train(self.model, groups)',
    ),
    BAD[-3].replace(
        "        result = await self.backend.train(self.model, groups)  # <-",
        '        if phase.split == "val":\n            return await self.model.log(groups, split="val")\n'
        "        result = await self.backend.train(self.model, groups)",
    ),
    """\
import art
from art.utils import iterate_dataset

async def apart(model, backend, gather, rows):
    val_rows, rest = rows[:40], rows[40:]
    for batch in iterate_dataset(rest, initial_step=await model.get_step()):
        await backend.train(model, await gather(model, batch.items))
        await model.log(await gather(model, val_rows), split="val")

async def thinned(model, backend, gather, rows):
    val_rows = rows[:40]
    rows = rows[40:]
    for batch in iterate_dataset(rows, initial_step=await model.get_step()):
        await backend.train(model, await gather(model, batch.items))
        await model.log(await gather(model, val_rows), split="val")
""",
    """\
import art

async def main(model, backend, gather, rows, held_out):
    for step in range(10):
        groups = await gather(model, rows)
        held = await gather(model, held_out)
        await model.log(held, split="val", step=step)
        await backend.train(model, groups)
        everything = groups + held
        print(len(everything))

async def afterwards(model, backend, gather, rows, held_out):
    groups = await gather(model, held_out)
    await model.log(groups, split="val")
    groups = await gather(model, rows)
    await backend.train(model, groups)

def split(rows, text):
    train, val = rows[:900], rows[900:]
    head, tail = text[:400], text[200:]
    dev, more = rows[-20:], rows[:-20]
    sample = rows[:3]
    return train, val, head, tail, dev, more, sample, rows[:10], rows[5:]

def split_words(words):
    train_words = words[: int(len(words) * 0.8)]
    val_words = words[-200:] if len(words) < 1000 else words[int(len(words) * 0.8) :][:200]
    return train_words, val_words

def split_by_size(rows, small):
    train = rows[:100] if small else rows[:500]
    val = rows[100:200] if small else rows[500:600]
    return train, val
""",
    """\
import art, random

def split(items, val=20, test=20):
    rows = sorted(items, key=lambda item: item.id)
    return dict(train=rows[test + val :], val=rows[test : test + val], test=rows[:test])

async def main(model, backend, wrap, batches, held_out):
    for batch in batches:
        every = await art.gather_trajectory_groups(wrap(batch.items) + wrap(held_out), max_exceptions=9)
        validation = [group for group in every if group.metadata["split"] == "val"]
        trained = [group for group in every if group.metadata["split"] == "train"]
        await model.log(validation, split="val", step=batch.step)
        await backend.train(model, trained)
""",
)
HELD_OUT = ("val", "test", "eval", "validation")
HELD_OUT_NAMES = {*HELD_OUT, "dev", "held", "holdout", "valid"}
OVERLAP = "these rows and those before have some in common: validation measures what is trained on"
WHOLE = ("copy", "deepcopy", "list", "sorted")
PARTS = (*WHOLE, "sample")
THINNING = ("remove", "pop", "clear", "difference_update")
JOINING = ("list", "tuple", "chain", "sorted")


def check(code: Code) -> Iterator[Found]:
    yield from _overlapping(code)
    yield from _trained_in_each_phase(code)
    logged = [
        (call, groups)
        for call, _ in code.method_calls("log")
        if code.constant(argument_of(call, "split", ("trajectories", "split")))
        in HELD_OUT
        and isinstance(
            groups := argument_of(call, "trajectories", ("trajectories", "split")),
            ast.Name,
        )
    ]
    for call in code.training.calls if logged else ():
        for given in given_to(call):
            if any(_holds_chosen(code, given, groups) for _, groups in logged):
                yield found(
                    given,
                    "some of these groups are logged as validation, and all are trained on: what is "
                    "measured is learnt by heart; train on the others only",
                )
            for part, at in _parts(code, given):
                blocks = [code.blocks.around(call), code.blocks.around(at)]
                if any(
                    _are_one(code, part, groups)
                    and any(code.blocks.around(log) is block for block in blocks)
                    for log, groups in logged
                ):
                    yield found(
                        at,
                        f"{part.id} is logged as validation and trained on: what is measured is "
                        "learnt by heart; train on the other groups only",
                    )


def _holds_chosen(code: Code, given: ast.expr, groups: ast.expr) -> bool:
    """Return whether groups are chosen from others: ``[g for g in every if is_held_out(g)]``."""
    for chosen in code.syntax.values_of(groups):
        match chosen:
            case ast.ListComp(
                elt=ast.Name(id=one),
                generators=[
                    ast.comprehension(target=ast.Name(id=each), ifs=[_, *_]) as over
                ],
            ) if one == each and isinstance(given, ast.Name):
                return isinstance(over.iter, ast.Name) and _are_one(
                    code, given, over.iter
                )
    return False


def _trained_in_each_phase(code: Code) -> Iterator[Found]:
    """Yield the groups that one function trains and logs, now as training, now as validation."""
    for log, _ in code.method_calls("log"):
        taken = ("trajectories", "split")
        groups = argument_of(log, "trajectories", taken)
        split = argument_of(log, "split", taken)
        splits = code.flow.constants(split)
        if split is None or "train" not in splits or splits.isdisjoint(HELD_OUT):
            continue
        if _is_asked_for(code, split):
            continue
        for call in code.training.calls:
            if code.blocks.around(call) is not code.blocks.around(log):
                continue
            for given in given_to(call):
                if not (isinstance(given, ast.Name) and isinstance(groups, ast.Name)):
                    continue
                if _are_one(code, given, groups):
                    yield found(
                        given,
                        "these groups are trained in each phase, also where they are logged as "
                        "validation: what is measured is learnt by heart",
                    )


def _is_asked_for(code: Code, split: ast.expr) -> bool:
    """Return whether its function branches on a split, or on what has it."""
    return any(
        not names_in(split).isdisjoint(names_in(asked))
        for node in code.syntax.owned_by(code.syntax.owner(split))
        for asked in (getattr(node, "test", None), getattr(node, "subject", None))
        if isinstance(asked, ast.expr)
    )


def _overlapping(code: Code) -> Iterator[Found]:
    """Yield two parts of one list that are split off for training and validation, and share rows.

    A part may be the whole list, or its copy, unless rows are taken out of it.
    """
    if not code.training.calls:
        return
    cuts: dict[tuple[ast.AST, str], list[tuple[str, ast.expr]]] = {}
    for node in code.syntax.nodes:
        match node:
            case ast.Assign(
                targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)
            ):
                pairs = list(zip(names, values, strict=False))
            case (
                ast.Assign(targets=[target, *_], value=value)
                | ast.AnnAssign(target=target, value=ast.expr() as value)
            ):
                pairs = [(target, value)]
            case ast.Call(keywords=[_, _, *_] as given):  # Split(train=..., val=...)
                pairs = [(ast.Name(k.arg), k.value) for k in given if k.arg is not None]
            case ast.Return(value=ast.Tuple(elts=[one, two])):
                if "split" in code.syntax.owner(node).lower() and _share(one, two):
                    yield found(two, OVERLAP)
                continue
            case _:
                continue
        for to, value in ((to, each) for to, whole in pairs for each in _either(whole)):
            name, cut = dotted(to), _taken_from(value)
            if name is None or cut is None or _is_thinned(code, value, name):
                continue
            if (
                isinstance(value, ast.Subscript)
                and _are_split(name, cut)
                and not _is_thinned(code, value, cut)
            ):
                yield found(value, OVERLAP)
                continue
            block = code.blocks.around(node)
            cuts.setdefault((block[0], cut), []).append((name, value))
    yield from _held_out_rows_trained(code)
    for (_, cut), parts in cuts.items():
        for at, (cut_off, rows) in enumerate(parts):
            if any(
                _are_split(cut_off, name)
                and (_share(rows, others) or _is_reordered(code, cut, others, rows))
                and not _exclude(code, rows, others)
                for name, others in parts[:at]
            ):
                yield found(rows, OVERLAP)


def _is_reordered(code: Code, cut: str, first: ast.expr, then: ast.expr) -> bool:
    """Return whether a list is put into another order between the slices of it."""
    if not all(isinstance(each, ast.Subscript) for each in (first, then)):
        return False
    between = [
        node
        for node in code.syntax.owned_by(code.syntax.owner(then))
        if first.lineno < getattr(node, "lineno", 0) < then.lineno
    ]
    is_other = any(
        dotted(node) == cut and isinstance(getattr(node, "ctx", None), ast.Store)
        for node in between
    )
    return not is_other and any(
        dotted(receiver(node, "sort", "reverse")) == cut
        or (last_name(node.func) == "shuffle" and cut in map(dotted, node.args))
        for node in between
        if isinstance(node, ast.Call)
    )


def _held_out_rows_trained(code: Code) -> Iterator[Found]:
    """Yield what a loop trains on that includes the rows of a validation, which is logged."""
    if not any(
        code.constant(argument_of(call, "split", ("trajectories", "split"))) in HELD_OUT
        for call, _ in code.method_calls("log")
    ):
        return
    for call in code.art_calls("iterate_dataset"):
        rows = first_argument(call, "dataset")
        for value in code.values(rows) if rows is not None else ():
            match value.node:
                case ast.BinOp(left=left, op=ast.Add(), right=right):
                    names = [
                        (dotted(each) or "").rpartition(".")[2]
                        for each in (left, right)
                    ]
                    if _are_split(*names):
                        yield found(value.node, OVERLAP)
        if isinstance(rows, ast.Name) and _is_cut_for_validation(code, rows):
            yield found(rows, OVERLAP)


def _is_cut_for_validation(code: Code, rows: ast.Name) -> bool:
    """Return whether a part of a list is held out by name, and no other part is ever taken."""
    return any(
        isinstance(value, ast.Subscript)
        and _cut(value) == rows.id
        and owner == code.syntax.owner(rows)
        and not HELD_OUT_NAMES.isdisjoint(name.lower().split("_"))
        and not _is_thinned(code, value, rows.id)
        for name, assigned in code.syntax.assignments.items()
        for owner, value in assigned
    )


def _are_split(one: str, two: str) -> bool:
    """Return whether one name says training, and the other validation."""
    words = [name.lower().split("_") for name in (one, two)]
    trained = ["train" in each or "training" in each for each in words]
    held_out = [not HELD_OUT_NAMES.isdisjoint(each) for each in words]
    return [trained, held_out] in (
        [[True, False], [False, True]],
        [[False, True], [True, False]],
    )


def _is_thinned(code: Code, near: ast.expr, name: str) -> bool:
    """Return whether a function binds a list anew, takes rows out of it, or uses a part of it."""
    function = code.function_of(near)
    bound = function is not None and name in function.given
    for node in code.syntax.owned_by(code.syntax.owner(near)):
        if dotted(node) == name and isinstance(getattr(node, "ctx", None), ast.Store):
            if bound:
                return True
            bound = True
        elif dotted(receiver(node, *THINNING)) == name:
            return True
        elif isinstance(node, ast.Subscript) and dotted(node.value) == name:
            if node is not near and isinstance(node.slice, ast.Slice):
                return True
            if isinstance(node.ctx, ast.Del):
                return True
    return False


def _either(value: ast.expr) -> tuple[ast.expr, ...]:
    """Return both branches of a conditional, and anything else as it is."""
    return (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)


def _exclude(code: Code, one: ast.expr, other: ast.expr) -> bool:
    """Return whether they are different branches of conditionals that ask the same."""
    around = [code.syntax.parents[each] for each in (one, other)]
    if not all(isinstance(each, ast.IfExp) for each in around):
        return False
    tests = [ast.dump(each.test) for each in around if isinstance(each, ast.IfExp)]
    taken = [
        getattr(each, "body", None) is part
        for each, part in zip(around, (one, other), strict=True)
    ]
    return tests[0] == tests[1] and taken[0] != taken[1]


def _taken_from(node: ast.expr) -> str | None:
    """Return the list that a slice, a copy or a random sample is taken from."""
    match node:
        case ast.Call(func=ast.Attribute(attr="copy", value=whole), args=[]):
            return dotted(whole)
        case ast.Call(args=[whole, *_]) if last_name(node.func) in PARTS:
            return dotted(whole)
    return _cut(node)


def _cut(node: ast.expr) -> str | None:
    """Return what is sliced with constants, once or first from a bound on: ``rows[9:][:5]``."""
    match node:
        case ast.Subscript(
            value=ast.Subscript(slice=ast.Slice(lower=ast.expr(), upper=None)) as inner,
            slice=ast.Slice(lower=None, upper=ast.expr(), step=None),
        ):
            return _cut(inner)
        case ast.Subscript(value=value, slice=ast.Slice(step=None)):
            return dotted(value)
    return None


def _begin_alike(one: ast.expr, two: ast.expr) -> bool:
    """Return whether two slices of one list begin at one bound: ``rows[n:]``, ``rows[n : n + m]``."""
    match one, two:
        case (
            ast.Subscript(value=rows, slice=ast.Slice(lower=first, step=None)),
            ast.Subscript(value=others, slice=ast.Slice(lower=second, step=None)),
        ):
            same = dotted(rows) is not None and dotted(rows) == dotted(others)
            bounds = [
                None if each is None else ast.unparse(each) for each in (first, second)
            ]
            return same and bounds[0] == bounds[1]
    return False


def _share(one: ast.expr, two: ast.expr) -> bool:
    """Return whether they are parts of one list that have rows in common, if there are that many.

    Of a bound from the end and another from the start nothing is known.
    """
    if _taken_from(one) == _taken_from(two) and any(map(_is_whole, (one, two))):
        return _taken_from(one) is not None
    if _begin_alike(one, two):
        return True
    if _cut(one) is None or _cut(one) != _cut(two):
        return False
    bounds = [*_bounds(one), *_bounds(two)]
    from_end = [each < 0 for each in bounds if each is not None]
    if any(map(math.isnan, filter(None, bounds))) or any(from_end) != all(from_end):
        return False
    first, last = (-math.inf, 0.0) if any(from_end) else (0.0, math.inf)
    starts = [first if each is None else each for each in bounds[::2]]
    ends = [last if each is None else each for each in bounds[1::2]]
    return max(starts) < min(ends)


def _is_whole(node: ast.expr) -> bool:
    """Return whether it is a copy of a list that leaves nothing out."""
    return isinstance(node, ast.Call) and last_name(node.func) in WHOLE


def _bounds(node: ast.expr) -> Iterator[float | None]:
    """Yield the bounds of a slice: None for none, NaN for what is no constant.

    A part of the length, as in ``int(len(rows) * 0.9)``, is that of a list of a million rows.
    """
    assert isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
    lower, upper, rows = node.slice.lower, node.slice.upper, node.value
    if isinstance(rows, ast.Subscript) and isinstance(rows.slice, ast.Slice):
        start = _bound(rows.slice.lower, rows.value)
        length = _bound(upper, rows.value)
        yield start
        yield math.nan if start is None or length is None else start + length
        return
    yield from (_bound(each, rows) for each in (lower, upper))


def _bound(bound: ast.expr | None, rows: ast.expr) -> float | None:
    match bound:
        case None:
            return None
        case ast.Constant(value=int(value)):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
    part = _part_of_length(bound, ast.dump(rows))
    return math.nan if part is None else math.floor(part * 1_000_000)


def _part_of_length(bound: ast.expr, whole: str) -> float | None:
    """Return the fraction of a list's length that a bound is: of ``int(0.9 * len(rows))``."""
    match bound:
        case ast.Call(func=ast.Name("int" | "round"), args=[inner]):
            return _part_of_length(inner, whole)
        case (
            ast.BinOp(
                left=ast.Call(func=ast.Name("len"), args=[rows]),
                op=ast.Mult(),
                right=ast.Constant(value=float(part)),
            )
            | ast.BinOp(
                left=ast.Constant(value=float(part)),
                op=ast.Mult(),
                right=ast.Call(func=ast.Name("len"), args=[rows]),
            )
        ):
            return part if ast.dump(rows) == whole else None
    return None


def _parts(code: Code, given: ast.expr) -> Iterator[tuple[ast.Name, ast.expr]]:
    """Yield the lists that an argument is joined of, and where each is put into it.

    One list alone may be logged under another name: that measures training.
    """
    joined = list(_names(given)) if not isinstance(given, ast.Name) else []
    if len({each.id for each in joined}) > 1:
        yield from ((part, given) for part in joined)
    if not isinstance(given, ast.Name):
        return
    for definition in code.flow.definitions(code.flow.here(given)):
        grown_by = definition.value
        if isinstance(grown_by, ast.BinOp) and isinstance(
            code.syntax.parents.get(grown_by), ast.AugAssign
        ):
            yield from ((part, part) for part in _names(grown_by.right))
    for added in code.blocks.around(given):
        call = added.value if isinstance(added, ast.Expr) else None
        grown = receiver(call, "extend") if call is not None else None
        if (
            isinstance(call, ast.Call)
            and grown is not None
            and dotted(grown) == given.id
            and added.lineno < given.lineno
            and {id(d.node) for d in code.flow.definitions(code.flow.here(grown))}
            == {id(d.node) for d in code.flow.definitions(code.flow.here(given))}
        ):
            yield from ((part, part) for each in call.args for part in _names(each))


def _names(expression: ast.expr) -> Iterator[ast.Name]:
    match expression:
        case ast.Name():
            yield expression
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from (*_names(left), *_names(right))
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            for each in elements:
                if isinstance(each, ast.Starred):
                    yield from _names(each.value)
        case ast.Call(args=args) if last_name(expression.func) in JOINING:
            for each in args:
                yield from _names(each)


def _are_one(code: Code, trained: ast.Name, logged: ast.Name) -> bool:
    """Return whether two names stand for one list, in one function."""
    if trained.id != logged.id or code.syntax.owner(trained) != code.syntax.owner(
        logged
    ):
        return False
    one, other = (
        {id(each.node) for each in code.syntax.definitions.reaching(name)}
        for name in (trained, logged)
    )
    return one == other
