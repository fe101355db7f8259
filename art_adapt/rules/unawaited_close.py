"""backend.close() is not awaited, so it does nothing and GPU processes keep running

``close`` is a coroutine function on every backend: without ``await`` it only causes a warning.

Evidence: art 0.5.18, local/backend.py:267 and serverless/backend.py:89; art 0.5.23,
local/backend.py:651 and serverless/backend.py:100.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code
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
)


def check(code: Code) -> Iterator[Found]:
    for call, backend in code.method_calls("close"):
        if code.models.is_backend(backend) and isinstance(
            code.syntax.parents.get(call), ast.Expr
        ):
            yield found(
                call,
                "close() is a coroutine: without await it does nothing, and the GPU "
                "processes keep running",
                await_it(code, call),
            )
