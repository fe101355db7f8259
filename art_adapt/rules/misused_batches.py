"""The batches of iterate_dataset are used in an unsupported way, so the loop raises

``iterate_dataset`` is a plain generator of ``DatasetBatch`` objects: dataclasses with ``items``,
``step``, ``epoch`` and ``epoch_step``. They cannot be unpacked, iterated or measured with ``len``,
``async for`` does not take the generator, and arguments have other names than in older examples.
It takes the length of its dataset, which a generator does not have. A batch has
``groups_per_step`` scenarios, of which ``batch.items[0]`` is one.

``for batch in iterate_dataset(rows, groups_per_step=4): ... batch.items ... batch.step``

Evidence: art 0.5.18 and 0.5.23, utils/iterate_dataset.py:11-28.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import dotted, first_argument, keyword
from art_adapt.rules.code import Code, Value
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART523", "misused-batches", Severity.WASTE)
BAD = (
    """\
from art.utils import iterate_dataset

def train(rows):
    for batch, epoch, step, epoch_step in iterate_dataset(rows):  # <-
        print(step)
""",
    """\
from art.utils import iterate_dataset

async def train(model, backend, rows):
    for batch in iterate_dataset(rows, groups_per_step=5, num_epochs=2):
        row = batch.items[0]  # <-
        group = await gathered(model, row)
        await backend.train(model, [group])
""",
    """\
from art.utils import iterate_dataset

async def train(rows):
    batches = iterate_dataset(rows, batch_size=4)  # <-
    for batch in batches:
        print(len(batch))  # <-
    async for batch in batches:  # <-
        print(batch.items)
""",
    """\
import json
from art.utils import iterate_dataset

def rows(path):
    with open(path) as file:
        for line in file:
            yield json.loads(line)

def train(path, others):
    dataset = rows(path)
    for batch in iterate_dataset(dataset, groups_per_step=4):  # <-
        print(batch.items)
    for batch in iterate_dataset(row for row in others):  # <-
        print(batch.items)
    for batch in iterate_dataset(dataset=map(json.loads, others)):  # <-
        print(batch.items)
""",
)
GOOD = (
    """\
from art.utils import iterate_dataset

async def train(model, backend, rows):
    for batch in iterate_dataset(rows, groups_per_step=5, num_epochs=2):
        print(batch.step, batch.items[0])
        await backend.train(model, [await gathered(model, row) for row in batch.items])
    for batch in iterate_dataset(rows, groups_per_step=1):
        await backend.train(model, [await gathered(model, batch.items[0])])
""",
    """\
from art.utils import iterate_dataset

def train(rows):
    for batch in iterate_dataset(rows, groups_per_step=4, initial_step=3):
        for row in batch.items:
            print(batch.step, row)
""",
    """\
import json
from art.utils import iterate_dataset

def rows(path):
    for line in open(path):
        yield json.loads(line)

def train(path):
    dataset = list(rows(path))
    for batch in iterate_dataset(dataset):
        print(batch.items)
    for batch in iterate_dataset([*rows(path)]):
        print(batch.items)
""",
)


LAZY = ("map", "filter", "iter", "zip", "enumerate", "reversed", "itertools.chain")
ARGUMENTS = ("dataset", "groups_per_step", "num_epochs", "initial_step", "use_tqdm")
MESSAGE = (
    "iterate_dataset yields DatasetBatch objects, which cannot be {}: use batch.items"
)


def check(code: Code) -> Iterator[Found]:
    for call in code.art_calls("iterate_dataset"):
        for given in call.keywords:
            if given.arg is not None and given.arg not in ARGUMENTS:
                yield found(
                    given.value,
                    f"iterate_dataset has no argument {given.arg}: this raises a TypeError",
                )
        dataset = first_argument(call, "dataset")
        if dataset is not None and all(
            _yields(code, value) for value in code.aliases.values(dataset)
        ):
            yield found(
                dataset,
                "iterate_dataset takes the length of its dataset, and a generator has none: "
                "this raises a TypeError; make a list of it",
            )
    for node in code.syntax.nodes:
        if not isinstance(node, ast.For | ast.AsyncFor):
            continue
        values = code.values(node.iter)
        if not values or not all(_is_batches(code, each.node) for each in values):
            continue
        if isinstance(node, ast.AsyncFor):
            yield found(
                node, "iterate_dataset is not an async generator: use a plain for"
            )
        elif isinstance(node.target, ast.Tuple):
            yield found(node.target, MESSAGE.format("unpacked"))
        elif isinstance(node.target, ast.Name):
            yield from _uses(code, node, node.target.id)
            yield from _first_alone(code, node, node.target.id)


def _first_alone(code: Code, loop: ast.For, name: str) -> Iterator[Found]:
    """Yield where a loop takes one scenario of each batch of several, and no other."""
    (batches,) = (each.node for each in code.values(loop.iter)[:1])
    assert isinstance(batches, ast.Call)
    size = code.constant(keyword(batches, "groups_per_step"))
    taken = [
        code.syntax.parents[node]
        for node in code.blocks.inside(loop)
        if isinstance(node, ast.Attribute) and dotted(node) == f"{name}.items"
    ]
    alone = [
        each
        for each in taken
        if isinstance(each, ast.Subscript) and isinstance(each.slice, ast.Constant)
    ]
    one = {ast.unparse(each) for each in alone}
    if (
        isinstance(size, int)
        and size > 1
        and len(alone) == len(taken)
        and len(one) == 1
    ):
        yield found(
            alone[0],
            f"each batch has {size} scenarios, and only this one is used: the others are never "
            "trained; make a group of each of them",
        )


def _yields(code: Code, value: Value) -> bool:
    """Return whether a value is a generator, or what a function makes that yields its rows."""
    if isinstance(value.node, ast.GeneratorExp):
        return True
    if not isinstance(value.node, ast.Call):
        return False
    body = code.aliases.functions.enter(value)
    if body is None:
        return _named(value, value.node.func) in LAZY
    is_decorated = bool(body.function.node.decorator_list)
    nodes = list(body.nodes)
    return not is_decorated and any(
        isinstance(n, ast.Yield | ast.YieldFrom) for n in nodes
    )


def _named(value: Value, function: ast.expr) -> str | None:
    """Return a function's name, None for a built-in's that the file binds to something else."""
    name = value.syntax.qualified(function)
    bound = name in value.syntax.functions or bool(value.syntax.values_of(function))
    return None if name == dotted(function) and bound else name


def _is_batches(code: Code, node: ast.expr) -> bool:
    """Return whether it is a call of ``iterate_dataset``, also inside ``enumerate``."""
    return isinstance(node, ast.Call) and (code.art_name(node.func) or "").endswith(
        ".iterate_dataset"
    )


def _uses(code: Code, loop: ast.For, name: str) -> Iterator[Found]:
    """Yield the places that take a batch for a list."""
    for node in code.blocks.inside(loop):
        if not isinstance(node, ast.Name) or node.id != name:
            continue
        if isinstance(node.ctx, ast.Store) and node is not loop.target:
            return  # the name has another value from here on
        parent = code.syntax.parents.get(node)
        if isinstance(parent, ast.For | ast.comprehension) and parent.iter is node:
            yield found(node, MESSAGE.format("iterated"))
        elif isinstance(parent, ast.Subscript) and parent.value is node:
            yield found(node, MESSAGE.format("indexed"))
        elif isinstance(parent, ast.Call) and node in parent.args:
            if dotted(parent.func) == "len":
                yield found(node, MESSAGE.format("measured with len"))
            elif _iterates(code, parent, node):
                yield found(node, MESSAGE.format("iterated"))


def _iterates(code: Code, call: ast.Call, given: ast.Name) -> bool:
    """Return whether a function of the project iterates over this argument."""
    body = code.entered(call)
    if body is None:
        return False
    at = call.args.index(given)
    if at >= len(body.function.positional):
        return False
    name = body.function.positional[at]
    return any(
        isinstance(node, ast.For | ast.comprehension) and dotted(node.iter) == name
        for node in body.nodes
    )
