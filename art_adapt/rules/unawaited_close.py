"""backend.close() is not awaited, so it does nothing and GPU processes keep running

``close`` is a coroutine function on every backend: without ``await`` it only causes a warning.

Evidence: art 0.5.18, local/backend.py:267 and serverless/backend.py:89; art 0.5.23,
local/backend.py:651 and serverless/backend.py:100.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import last_name
from art_adapt.rules.code import Code
from art_adapt.rules.code.failures import statements_after
from art_adapt.rules.rule import Found, Rule, Severity, await_it, found

RULE = Rule("ART508", "unawaited-close", Severity.WASTE)
BAD = (
    """\
import art
from art.local import LocalBackend

async def main(model):
    backend = LocalBackend()
    await model.register(backend)
    backend.close()  # <-
""",
    """\
import art

async def finish(model: art.TrainableModel, backend: art.Backend):
    model._backend.close()  # <-
    backend.close()  # <-
    model.backend().close()  # <-
""",
    """\
import art, asyncio
from art.local import LocalBackend

async def main(model):
    backend = LocalBackend()
    try:
        await model.register(backend)
    finally:
        asyncio.ensure_future(backend.close())  # <-
    return 0

async def other(model, stack):
    backend = LocalBackend()
    stack.callback(backend.close)  # <-
    await model.register(backend)
""",
)
FIXED = BAD[0].replace("    backend.close()", "    await backend.close()")
GOOD = (
    FIXED.replace("  # <-", ""),
    """\
import art, asyncio
from art.local import LocalBackend

def main(model):
    backend = LocalBackend()
    asyncio.run(backend.close())
    open("x").close()
""",
    """\
import art, asyncio
from art.local import LocalBackend

async def main(model, others):
    backend = LocalBackend()
    await model.register(backend)
    asyncio.create_task(backend.close())
    await others

async def stacked(model, stack):
    backend = LocalBackend()
    stack.push_async_callback(backend.close)
    await model.register(backend)
""",
)
STARTS = ("create_task", "ensure_future")  # a task, which ends with its loop
CALLS_LATER = "callback"  # of an ExitStack; push_async_callback awaits


def check(code: Code) -> Iterator[Found]:
    for call, backend in code.method_calls("close"):
        around = code.syntax.parents.get(call)
        if (
            isinstance(around, ast.Call)
            and last_name(around.func) in STARTS
            and _is_last(code, around)
        ):
            around = code.syntax.parents.get(around)
        if code.models.is_backend(backend) and isinstance(around, ast.Expr):
            yield found(
                call,
                "close() is a coroutine: without await it does nothing, and the GPU "
                "processes keep running",
                await_it(code, call),
            )
    for call in code.calls:
        if last_name(call.func) != CALLS_LATER or not call.args:
            continue
        close = call.args[0]
        if (
            isinstance(close, ast.Attribute)
            and close.attr == "close"
            and code.models.is_backend(close.value)
        ):
            yield found(
                close,
                "close is a coroutine function: what calls it does not await it, and the GPU "
                "processes keep running",
            )


def _is_last(code: Code, starts: ast.Call) -> bool:
    """Return whether nothing is awaited after a call, so that its loop ends before the task."""
    function = code.function_of(starts)
    statement = code.syntax.parents.get(starts)
    if function is None or not isinstance(statement, ast.Expr):
        return False
    after = statements_after(code, function.node, statement)
    return code.syntax.enclosing_loop(starts) is None and not any(
        isinstance(node, ast.Await) for each in after for node in ast.walk(each)
    )
