"""A coroutine is not awaited, so it never runs, and no error is raised

``model.register``, ``model.log``, ``backend.train`` and the other methods of models and backends
that do something are coroutine functions: without ``await`` they only cause a warning when the
program ends. A coroutine function of your own in a condition is always true: a reward that asks a
judge by ``if is_right(answer):`` is given to every answer.

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
    """\
import art

async def is_kept(source: str, text: str) -> bool:
    return source in text

class Judge:
    async def likes(self, text: str) -> bool:
        return bool(text)

async def translate(model: art.Model, item, judge: Judge):
    text = item["text"]
    reward = 0.0
    if text and is_kept(item["source"], text):  # <-
        reward += 0.7
    reward += 0.2 if judge.likes(text) else 0.0  # <-
    while not is_kept(text, text):  # <-
        text += "."
    good = [each for each in item["more"] if is_kept(each, text)]  # <-
    return art.Trajectory(messages_and_choices=[], reward=reward + 0.1 * len(good))
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
import art, asyncio
from wrappers import blocking

async def is_kept(source: str, text: str) -> bool:
    return source in text

@blocking
async def is_short(text: str) -> bool:
    return len(text) < 9

def is_long(text: str) -> bool:
    return len(text) > 90

async def translate(model: art.Model, item):
    text = item["text"]
    check = is_kept(item["source"], text) if text else None
    reward = 0.7 if await is_kept(item["source"], text) and not is_long(text) else 0.0
    if is_short(text) or asyncio.iscoroutine(check):
        reward += 0.1
    return art.Trajectory(messages_and_choices=[], reward=reward)
""",
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
        if _is_asked(code, call) and (function := _own_coroutine(code, call)):
            message = f"{function} is a coroutine function: without await its result is always true"
            yield found(call, message, await_it(code, call))
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


def _is_asked(code: Code, value: ast.expr) -> bool:
    """Return whether code asks whether a value is true."""
    match code.syntax.parents.get(value):
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            return test is value
        case ast.BoolOp() as around:
            # The last of `found or ask()` may be a value that is awaited later.
            return around.values[-1] is not value or _is_asked(code, around)
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.comprehension(ifs=tests):
            return value in tests
    return False


def _own_coroutine(code: Code, call: ast.Call) -> str:
    """Return the name of the project's coroutine function that a call enters; "" for another one."""
    body = code.entered(call)
    function = None if body is None else body.function.node
    is_one = isinstance(function, ast.AsyncFunctionDef) and not function.decorator_list
    if body is None or not is_one:
        return ""
    yields = any(
        isinstance(node, ast.Yield)
        for node in body.place.syntax.owned_by(body.function.qualname)
    )
    return "" if yields else body.function.node.name


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
