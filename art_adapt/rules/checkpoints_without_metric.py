"""delete_checkpoints() keeps the latest checkpoint only

It keeps the best by ``val/reward``, and nothing here logs validation: there is no best, and
every checkpoint but the latest is deleted, with a message that nobody reads.

Log validation with ``split="val"``, or name the metric that there is:
``delete_checkpoints("train/reward")``.

Written down in: art 0.5.18, model.py:1170-1201; art 0.5.23, model.py:1667-1698.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.syntax import dotted, keyword

RULE = Rule("ART510", "checkpoints-without-metric", Severity.WASTE)
BAD = (
    """\
import art

async def main(model, backend, groups):
    result = await backend.train(model, groups)
    await model.log(groups, split="train", step=result.step)
    await model.delete_checkpoints()  # <-
""",
)
GOOD = (
    BAD[0].replace("()  # <-", '("train/reward")'),
    BAD[0].replace("  # <-", "").replace('"train", step', '"val", step'),
)
# A function that may log validation in another file.
ELSEWHERE = re.compile(r"benchmark|evaluat|(^|_|\.)(eval|validation|val)(_|$)", re.I)


def check(code: Code) -> Iterator[Found]:
    if not code.training.calls or _validates(code):
        return
    for call in code.method_calls("delete_checkpoints"):
        if not call.args and keyword(call, "best_checkpoint_metric") is None:
            yield found(
                call,
                "nothing logs val/reward: every checkpoint but the latest is deleted; name "
                'the metric, as in delete_checkpoints("train/reward")',
            )


def _validates(code: Code) -> bool:
    """Whether validation may be logged: ``log`` has it as its default."""
    for call in code.method_calls("log"):
        split = keyword(call, "split")
        value = code.constant(split) if split is not None else ...
        if split is not None and value in ("val", ...):
            return True
        if split is None and _is_of_model(call):
            return True
    if any(ELSEWHERE.search(dotted(call.func) or "") for call in code.calls):
        return True
    return "val/reward" in code.source.text


def _is_of_model(call: ast.Call) -> bool:
    return (
        isinstance(call.func, ast.Attribute)
        and "model" in ast.unparse(call.func.value).lower()
        and bool(call.args)
    )
