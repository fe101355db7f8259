"""The backend is never closed, so its GPU processes keep running

A LocalBackend that is not closed keeps its vLLM and trainer processes and their GPU memory
until the interpreter ends.

Use ``async with LocalBackend() as backend``, or ``await backend.close()`` in a ``finally``
block.

Evidence: art 0.5.18, local/backend.py:245-298; art 0.5.23, local/backend.py:629-651.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART507", "unclosed-backend", Severity.UNTIDY)
BAD = (
    """\
import art
from art.local import LocalBackend

async def main(model):
    backend = LocalBackend()  # <-
    await model.register(backend)
""",
    """\
import art, httpx
from art.local import LocalBackend
from contextlib import AsyncExitStack

async def main(model):
    backend = LocalBackend()  # <-
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(httpx.AsyncClient())
        await model.register(backend)
""",
)
GOOD = (
    """\
import art
from art.local import LocalBackend

async def main(model):
    async with LocalBackend() as backend:
        await model.register(backend)
""",
    """\
import art
from art.local import LocalBackend

async def main(model):
    backend = LocalBackend()
    try:
        await model.register(backend)
    finally:
        await backend.close()
""",
    """\
import art
from art.local import LocalBackend
from contextlib import AsyncExitStack

async def main(model):
    async with AsyncExitStack() as stack:
        backend = await stack.enter_async_context(LocalBackend())
        await model.register(backend)
""",
)


def check(code: Code) -> Iterator[Found]:
    backends = list(code.art_calls("LocalBackend"))
    closed = [owner for _, owner in code.method_calls("close", "aclose")]
    closed += [
        given
        for call, _ in code.method_calls("enter_async_context")
        for given in call.args
    ]
    if any(_may_be_one(code, each, backends) for each in closed):
        return
    for call in backends:
        if not isinstance(code.syntax.parents.get(call), ast.withitem | ast.Return):
            yield found(call, "this backend is never closed: GPU processes stay alive")


def _may_be_one(code: Code, closed: ast.expr, backends: list[ast.Call]) -> bool:
    """Return whether what is closed may be a backend, and not certainly something else."""
    values = code.values(closed)
    return not all(
        isinstance(each.node, ast.Call)
        and each.node not in backends
        and code.art_name(each.node.func) is None
        and code.flow.functions.called(each.syntax, each.node.func) is None
        for each in values
    )
