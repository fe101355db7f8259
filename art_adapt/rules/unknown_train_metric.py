"""A metric of a training step is read under a name that it does not have

``backend.train`` returns its metrics under the names that ``model.log`` charts: ``loss/train``,
``loss/grad_norm``, ``loss/entropy``. ``result.metrics["loss"]`` raises KeyError after the first step
has been paid for. ``result.metrics.get("loss", 0.0)`` is 0.0 at every step, so the curve, the early
stop or the best checkpoint that is chosen by it means nothing.

Read ``result.metrics["loss/train"]``.

Evidence: art 0.5.18, unsloth/train.py:56-64, unsloth/service.py:845 and serverless/backend.py:43-60;
art 0.5.23, unsloth/train.py:55-63, serverless/backend.py.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART554", "unknown-train-metric", Severity.WASTE)
BAD = (
    """\
import art

async def main(model, backend, gather):
    for step in range(await model.get_step(), 50):
        groups = await gather(model, step)
        result = await backend.train(model, groups, learning_rate=1e-5)
        print(result.metrics["loss"])  # <-
        loss = result.metrics.get("policy_loss", float("nan"))  # <-
        await model.log(groups, metrics={**result.metrics, "loss": loss}, step=result.step)
""",
    """\
import art

async def train(model, backend, groups):
    metrics = (await backend.train(model, groups)).metrics
    if metrics.get("grad_norm", 0.0) > 10:  # <-
        raise RuntimeError("diverged")
""",
    """\
import art

class Trainer:
    async def step(self, groups):
        self.result = await self.backend.train(self.model, groups)
        return dict(self.result.metrics)["entropy"]  # <-
""",
)
GOOD = (
    """\
import art

async def main(model, backend, gather, history):
    groups = await gather(model)
    result = await backend.train(model, groups, learning_rate=1e-5)
    print(result.metrics["loss/train"], result.metrics.get("loss/grad_norm"))
    print(history.metrics["loss"], groups[0].metrics.get("loss"))
    print(result.metrics.get("loss/train", result.metrics.get("policy_loss")))
    metrics = dict(result.metrics)
    metrics["loss"] = metrics.pop("loss/train")
    await model.log(groups, metrics=metrics, step=result.step)
""",
)
NAMES = {
    "loss": "loss/train",
    "policy_loss": "loss/train",
    "entropy": "loss/entropy",
    "kl_div": "loss/kl_div",
    "kl_policy_ref": "loss/kl_policy_ref",
    "grad_norm": "loss/grad_norm",
    "learning_rate": "loss/learning_rate",
}


def check(code: Code) -> Iterator[Found]:
    trained = set(code.training.calls)
    for node in code.syntax.nodes if trained else ():
        match node:
            case ast.Subscript(value=held, slice=key, ctx=ast.Load()):
                pass
            case ast.Call(func=ast.Attribute(value=held, attr="get"), args=[key, *_]):
                pass
            case _:
                continue
        name = code.constant(key)
        if (
            isinstance(name, str)
            and name in NAMES
            and _are_of(code, held, trained)
            and not _is_set_or_asked_for(code, node, name)
            and not _is_fallback(code, node)
        ):
            yield found(
                key,
                f"a training step has no metric {name}: it is called {NAMES[name]}",
            )


def _is_set_or_asked_for(code: Code, near: ast.AST, name: str) -> bool:
    """Return whether a function gave metrics a name itself, or asked whether it is there."""
    for node in code.syntax.owned_by(code.syntax.owner(near)):
        if getattr(node, "lineno", math.inf) > getattr(near, "lineno", 0):
            continue
        match node:
            case ast.Subscript(ctx=ast.Store()):
                named = [node.slice]
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()]):
                named = [left]
            case ast.Dict(keys=keys):
                named = [key for key in keys if key is not None]
            case ast.keyword(arg=arg) if arg == name:
                return True
            case _:
                continue
        if name in map(code.constant, named):
            return True
    return False


def _is_fallback(code: Code, read: ast.AST) -> bool:
    """Return whether it stands in for another name: ``get("loss/train", metrics.get("loss"))``."""
    around = code.syntax.parents.get(read)
    return isinstance(around, ast.Call | ast.BoolOp | ast.IfExp) and (
        not isinstance(around, ast.Call) or read in around.args[1:]
    )


def _are_of(code: Code, metrics: ast.expr, trained: set[ast.Call]) -> bool:
    """Return whether they are all metrics of a training step, and nothing is added to them."""
    values = code.values(metrics)
    return bool(values) and all(
        isinstance(value.node, ast.Attribute)
        and value.node.attr == "metrics"
        and any(
            made.node in trained for made in code.values(value.of(value.node.value))
        )
        for value in values
    )
