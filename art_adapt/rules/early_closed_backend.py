"""The backend is closed before training, because its ``async with`` block has ended

``async with LocalBackend() as backend`` closes the backend where the block is left, also by
``return``. A helper that returns it from inside hands out a backend whose vLLM server has stopped: the
rollouts ask a server that is not there, and with ``max_exceptions`` the step trains on nothing.

``backend.close()`` in the loop that trains does the same after the first step.

Train inside the block, make the helper an ``asynccontextmanager`` that yields, or close the backend
in a ``finally`` block of who trains.

Evidence: art 0.5.18, local/backend.py:245-298; art 0.5.23, local/backend.py:629-651
(``__aexit__`` calls ``close``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import dotted, last_name, names_set_in
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART537", "early-closed-backend", Severity.WASTE)
BAD = (
    """\
import art
from art.local import LocalBackend

async def setup(model):
    async with LocalBackend() as backend:
        await model.register(backend)
        return model, backend  # <-
""",
    """\
import art
from art.local import LocalBackend

async def main(model, groups):
    async with LocalBackend() as backend:
        await model.register(backend)
    await backend.train(model, groups)  # <-
""",
    """\
import art
from art.local import LocalBackend

async def main(model, collect):
    backend = LocalBackend()
    await model.register(backend)
    for step in range(await model.get_step(), 100):
        await backend.train(model, await collect(model, step))
        await backend.close()  # <-
""",
    """\
import art
from art.local import LocalBackend

async def make():
    async with LocalBackend() as backend:
        model = art.TrainableModel(name="m", run_name="m", project="p", base_model="b")
        await model.register(backend)

        async def rollout(scenario):
            return await play(model.openai_client(), scenario)

        return rollout, model  # <-
""",
    """\
import art
from art.local import LocalBackend

async def main(model, batches, gather):
    backend = LocalBackend()
    await model.register(backend)
    for batch in batches:
        try:
            await backend.train(model, await gather(model, batch))
        finally:
            await backend.close()  # <-
""",
    """\
import art
from art.local import LocalBackend
from dataclasses import dataclass

@dataclass
class Job:
    model: art.TrainableModel
    backend: LocalBackend

async def prepared(model):
    async with LocalBackend(path=".art") as backend:
        await model.register(backend)
        return Job(model, backend=backend)  # <-

async def main(model, rollouts):
    job = await prepared(model)
    groups = await art.gather_trajectory_groups(rollouts)
    await job.backend.train(job.model, groups)
""",
)
GOOD = (
    """\
import art, contextlib
from art.local import LocalBackend

@contextlib.asynccontextmanager
async def setup(model):
    async with LocalBackend() as backend:
        await model.register(backend)
        yield model, backend

async def main(model, groups):
    async with LocalBackend() as backend:
        await model.register(backend)
        result = await backend.train(model, groups)
        return model, result.step

async def trained(model, steps):
    async with LocalBackend() as backend:
        await model.register(backend)
        await steps(model, backend)
        return model
""",
    """\
import art
from art.local import LocalBackend

async def main(model, groups):
    async with LocalBackend() as backend:
        await model.register(backend)
    backend = LocalBackend()
    await backend.train(model, groups)
    await backend.close()
""",
    """\
import art
from art.local import LocalBackend

async def main(models, collect):
    for model in models:
        backend = LocalBackend()
        await model.register(backend)
        await backend.train(model, await collect(model))
        await backend.close()
""",
    """\
import art
from art.local import LocalBackend

async def main(model, collect):
    backend = LocalBackend()
    await model.register(backend)
    for step in range(await model.get_step(), 100):
        await backend.train(model, await collect(model, step))
        if step == 99:
            await backend.close()
""",
)
HOLDING = (ast.Tuple, ast.List, ast.Dict, ast.keyword)


def check(code: Code) -> Iterator[Found]:
    yield from _closed_in_a_loop(code)
    for call in code.art_calls("LocalBackend"):
        item = code.syntax.parents.get(call)
        if not isinstance(item, ast.withitem) or item.optional_vars is None:
            continue
        use = next(_too_late(code, item), None)
        if use is not None:
            yield found(
                use,
                "the backend is closed when its async with block ends: its server is gone "
                "before this can train; train inside the block",
            )


def _closed_in_a_loop(code: Code) -> Iterator[Found]:
    """Yield the closes of a backend with which the next turn of the loop trains again."""
    made = set(code.art_calls("LocalBackend"))
    for call, _ in code.method_calls("close"):
        loop = code.syntax.enclosing_loop(call)
        if loop is None or _ends(loop) or not isinstance(call.func, ast.Attribute):
            continue
        backend = dotted(call.func.value)
        inside = set(ast.walk(loop))
        around = (each for each in code.syntax.ancestors(call) if each in inside)
        if (
            backend in (None, *names_set_in(loop))
            or any(_may_leave_out(each, call) for each in around)
            or not any(each.node in made for each in code.values(call.func.value))
        ):
            continue
        trains = (each.func for each, _ in code.method_calls("train") if each in inside)
        if any(
            isinstance(f, ast.Attribute) and dotted(f.value) == backend for f in trains
        ):
            yield found(
                call,
                "the backend is closed in the loop: the next step has no server to ask; close it "
                "after the loop",
            )


def _may_leave_out(outer: ast.AST, inner: ast.AST) -> bool:
    """Return whether a branch around a node may not run it: ``finally`` always does."""
    if isinstance(outer, ast.Try):
        always = (node for each in outer.finalbody for node in ast.walk(each))
        return inner not in set(always)
    return isinstance(outer, ast.If)


def _ends(loop: ast.AST) -> bool:
    return any(isinstance(n, ast.Break | ast.Return) for n in ast.walk(loop))


def _too_late(code: Code, item: ast.withitem) -> Iterator[ast.expr]:
    """Yield the uses of a backend that are certainly made after its block."""
    block = code.syntax.parents[item]
    for name in code.uses.reading(item, item.optional_vars):
        inside = code.blocks.within(name, block)
        if not _is_of(code, name, block):
            continue
        if _is_returned(code, name) or (not inside and _is_trained_with(code, name)):
            yield name
        elif inside and (model := _only_registered(code, name, block)) is not None:
            yield model


def _only_registered(code: Code, backend: ast.Name, block: ast.AST) -> ast.Name | None:
    """Return the model that a block registers with its backend and returns, if it does no more."""
    used = [name for name in code.reads(backend.id, backend) if name is not backend]
    around = code.syntax.parents[backend]
    if isinstance(around, ast.Attribute | ast.keyword):
        around = code.syntax.parents[around]
    call = around
    if used or not isinstance(call, ast.Call) or last_name(call.func) != "register":
        return None
    waits = (
        node
        for node in ast.walk(block)
        if isinstance(node, ast.Await) and _is_of(code, node, block)
    )
    if any(node.value is not call for node in waits):
        return None  # it may have done what the model is for
    given = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    models = {dotted(each) for each in (*given, *call.args)} - {backend.id}
    for node in ast.walk(block):
        if (
            isinstance(node, ast.Name)
            and node.id in models
            and _is_returned(code, node)
            and _is_of(code, node, block)
        ):
            return node
    return None


def _is_returned(code: Code, name: ast.Name) -> bool:
    """Return whether a function returns a backend itself, alone, among others or in an object."""
    outer = next(o for o in code.syntax.ancestors(name) if not _holds(code, o))
    return isinstance(outer, ast.Return)


def _holds(code: Code, outer: ast.AST) -> bool:
    """Return whether an expression makes something that has the one within it."""
    if isinstance(outer, ast.Call):
        return code.flow.functions.class_made(code.syntax, outer.func) is not None
    return isinstance(outer, HOLDING)


def _is_of(code: Code, node: ast.AST, block: ast.AST) -> bool:
    """Return whether a node stands in the function that has the block, not in one inside it."""
    return code.syntax.owner(node) == code.syntax.owner(block)


def _is_trained_with(code: Code, name: ast.Name) -> bool:
    """Return whether it is the backend of ``backend.train(...)``, or one to register with."""
    return any(
        isinstance(call.func, ast.Attribute) and call.func.value is name
        for call in code.training.calls
    ) or any(name in call.args for call, _ in code.method_calls("register"))
