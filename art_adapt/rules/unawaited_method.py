"""A coroutine of ART is not awaited, so it never runs, and no error is raised

``model.register``, ``model.log``, ``backend.train`` and the other methods of models and backends
that do something are coroutine functions: without ``await`` they only cause a warning when the
program ends.

Evidence: art 0.5.18, model.py:311, 835, 996, 1150-1203 and local/backend.py:300, 638, 1105-1346; art
0.5.23, model.py and local/backend.py (the same methods).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import dotted, last_name
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, await_it, found

RULE = Rule("ART533", "unawaited-method", Severity.WASTE)
BAD = (
    """\
import art
from art.local import LocalBackend

async def main(groups):
    backend = LocalBackend()
    model = art.TrainableModel(name="a", run_name="a", project="p", base_model="b")
    model.register(backend)  # <-
    backend._experimental_pull_from_s3(model)  # <-
    result = await backend.train(model, groups)
    model.log(groups, metrics=result.metrics, step=result.step, split="train")  # <-
""",
    """\
import art
from art.utils import iterate_dataset

async def main(model: art.TrainableModel, rows):
    for step in range(model.get_step(), 50):  # <-
        print(step)
    start = model.get_step()  # <-
    for batch in iterate_dataset(rows, initial_step=start):
        print(batch)
""",
    """\
import art

class Run:
    def __init__(self, model, backend):
        self.model, self.backend = model, backend

    async def step(self, groups):
        result = await self.backend.train(self.model, groups)
        self.model.log(groups, split="train", step=result.step)  # <-
""",
    """\
import art
from art.local import LocalBackend
from functools import partial

class Loop:
    def __init__(self, model, backend):
        self.model = model
        self.learn = partial(backend.train, model, learning_rate=1e-5)

    async def once(self, groups):
        self.learn(groups)  # <-
        await self.model.log(groups, split="train")

async def main(model, groups):
    backend = LocalBackend()
    await model.register(backend)
    await Loop(model, backend).once(groups)
""",
)
FIXED = (
    BAD[0]
    .replace("    model.register", "    await model.register")
    .replace("    backend._exp", "    await backend._exp")
    .replace("    model.log", "    await model.log")
)
GOOD = (
    FIXED.replace("  # <-", ""),
    """\
import art

class Run:
    def __init__(self, model, backend, table):
        self.model, self.backend, self.table = model, backend, table

    async def step(self, groups):
        result = await self.backend.train(self.model, groups)
        await self.model.log(groups, split="train", step=result.step)
        self.table.log(groups)
""",
    """\
import art, asyncio

def main(model: art.TrainableModel, backend: art.Backend, log):
    asyncio.run(model.register(backend))
    start = asyncio.run(model.get_step())
    coming = model.get_step()
    print(start + 1, asyncio.run(coming))
    log.register(model)
""",
)
OF_MODEL = ("register", "log", "delete_checkpoints", "train_sft", "train")
OF_BACKEND = (
    *("register", "train", "delete", "_experimental_pull_from_s3"),
    *("_experimental_push_to_s3", "_experimental_fork_checkpoint"),
    "_experimental_pull_model_checkpoint",
)


def check(code: Code) -> Iterator[Found]:
    for call, owner in code.method_calls("get_step"):
        if code.models.is_one(owner) and _is_taken_for_a_number(code, call):
            message = "get_step is a coroutine: without await it is no number"
            yield found(call, message, await_it(code, call))
    for call in code.calls:
        if not isinstance(code.syntax.parents.get(call), ast.Expr):
            continue
        method = _method(code, call)
        if method is None:
            continue
        owner, name = method.value, method.attr
        is_model = code.models.is_one(owner) or _is_trained(code, owner)
        if (name in OF_MODEL and is_model) or (
            name in OF_BACKEND and code.models.is_backend(owner)
        ):
            message = f"{name} is a coroutine: without await it does nothing"
            yield found(call, message, await_it(code, call))


def _method(code: Code, call: ast.Call) -> ast.Attribute | None:
    """Return the method that a call names, or that a partial has bound which it calls."""
    named = call.func
    if isinstance(named, ast.Attribute) and named.attr in (*OF_MODEL, *OF_BACKEND):
        return named
    made = code.values(named) if isinstance(named, ast.Name | ast.Attribute) else ()
    bound = [
        each.node.args[0]
        for each in made
        if isinstance(each.node, ast.Call)
        and last_name(each.node.func) == "partial"
        and each.node.args
        and each.syntax is code.syntax
    ]
    if len(bound) == 1 == len(made) and isinstance(bound[0], ast.Attribute):
        return bound[0]
    return None


def _is_trained(code: Code, owner: ast.expr) -> bool:
    """Return whether it is what this class or function gives ``backend.train(...)`` to train."""
    name, around = dotted(owner), code.syntax.class_around(code.syntax.owner(owner))
    trained = {
        dotted(call.args[0])
        for call in code.training.calls
        if call.args and code.syntax.class_around(code.syntax.owner(call)) == around
    }
    return name is not None and name in trained


def _is_taken_for_a_number(code: Code, call: ast.Call) -> bool:
    """Return whether a coroutine is counted with, itself or by a name that is never awaited."""
    if _is_counted_with(code, call):
        return True
    match code.syntax.parents.get(call):
        case (
            ast.Assign(targets=[ast.Name(id=name)])
            | ast.AnnAssign(target=ast.Name(id=name))
        ):
            reads = code.reads(name, call)
            return bool(reads) and all(_is_counted_with(code, each) for each in reads)
    return False


def _is_counted_with(code: Code, value: ast.expr) -> bool:
    match code.syntax.parents.get(value):
        case (
            ast.BinOp()
            | ast.Compare(ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()])
            | ast.Call(func=ast.Name("range"))
            | ast.keyword(arg="initial_step")
        ):
            return True
    return False
