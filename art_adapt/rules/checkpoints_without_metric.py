"""Validation is never logged, so delete_checkpoints() keeps only the latest checkpoint

``delete_checkpoints()`` keeps the best checkpoint by ``val/reward``. If nothing logs
validation there is no best one, and every checkpoint but the latest is deleted, with only a
log message.

Log validation with ``split="val"``, or name a metric that is logged:
``delete_checkpoints("train/reward")``.

Evidence: art 0.5.18, model.py:1170-1201; art 0.5.23, model.py:1667-1698.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import dotted, keyword, receiver
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.words import LOGS_VALIDATION

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


def check(code: Code) -> Iterator[Found]:
    if not code.training.calls or _validates(code):
        return
    for call, _ in code.method_calls("delete_checkpoints"):
        if not call.args and keyword(call, "best_checkpoint_metric") is None:
            yield found(
                call,
                "val/reward is never logged: every checkpoint but the latest is deleted; "
                'name a logged metric, as in delete_checkpoints("train/reward")',
            )


def _validates(code: Code) -> bool:
    """Return whether validation may be logged, as ``log`` does by default."""
    for call, owner in code.method_calls("log"):
        split = keyword(call, "split")
        value = code.constant(split) if split is not None else ...
        if split is not None and value in ("val", ...):
            return True
        if split is None and call.args and "model" in ast.unparse(owner).lower():
            return True
    for call in code.calls:
        name = dotted(call.func) or ""
        if LOGS_VALIDATION.search(name) and _may_log(code, call):
            return True
    return "val/reward" in code.source.text


def _may_log(code: Code, call: ast.Call) -> bool:
    """Return whether a function logs, or cannot be seen."""
    body = code.entered(call)
    return body is None or any(receiver(node, "log") for node in body.nodes)
