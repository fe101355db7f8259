"""backend.train gets an argument it does not accept, so it raises after the rollouts

LocalBackend accepts ``loss_fn=`` but not ``ppo=``; ServerlessBackend of ART 0.5.18 accepts
``ppo=`` but not ``loss_fn=``; neither accepts ``config=``. The TypeError comes after the first
batch of rollouts has been paid for.

Evidence: art 0.5.18, local/backend.py:638 and serverless/backend.py:193; art 0.5.23,
local/backend.py:1283 and serverless/backend.py:227.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.nodes import keyword

RULE = Rule("ART515", "backend-arguments", Severity.WASTE)
BAD = (
    """\
import art
from art.local import LocalBackend

async def main(model, groups):
    backend = LocalBackend()
    await backend.train(model, groups, ppo=True)  # <-
    await backend.train(model, groups, config=art.TrainConfig())  # <-
""",
)
GOOD = (
    """\
import art
from art.local import LocalBackend
from art.serverless import ServerlessBackend

async def main(model, groups):
    backend = LocalBackend()
    await backend.train(model, groups, loss_fn="ppo")
    other = ServerlessBackend()
    await other.train(model, groups, ppo=True)
""",
)


def check(code: Code) -> Iterator[Found]:
    for call in code.method_calls("train"):
        assert isinstance(call.func, ast.Attribute)
        made = {
            (code.art_name(value.func) or "").rpartition(".")[2]
            for value in code.syntax.values_of(call.func.value)
            if isinstance(value, ast.Call)
        }
        if not made or not made <= {"LocalBackend", "ServerlessBackend"}:
            continue
        wrong = ["config"] + (["ppo"] if made == {"LocalBackend"} else [])
        for name in wrong:
            given = keyword(call, name)
            if given is not None:
                yield found(
                    given,
                    f"{' and '.join(sorted(made))}.train does not accept {name}=: it "
                    "raises a TypeError after the rollouts have been paid for",
                )
