"""Groups that are trained on are logged without a split, so they count as validation

``model.log(groups)`` has ``split="val"`` by default. The rewards of training become the
validation curve, ``val/reward``, by which ``delete_checkpoints`` keeps the best checkpoint.

Write ``split="train"``.

Evidence: art 0.5.18 and 0.5.23, model.py (``Model.log``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import argument_of, dotted, given_to, keyword
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART542", "logged-as-validation", Severity.WASTE)
BAD = (
    """\
import art

async def main(model, backend, scenarios):
    for _ in range(10):
        groups = await art.gather_trajectory_groups(
            art.TrajectoryGroup(rollout(model, s) for _ in range(4)) for s in scenarios
        )
        result = await backend.train(model, groups)
        await model.log(groups, metrics=result.metrics, step=result.step)  # <-
""",
    """\
import art

async def main(model, backend, scenarios):
    train_groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(model, s) for _ in range(4)) for s in scenarios
    )
    await model.log(trajectories=train_groups)  # <-
    await backend.train(model, trajectory_groups=train_groups)
""",
    """\
import art

class Book:
    def __init__(self, model: art.TrainableModel):
        self.model = model

    async def enter(self, trajectories, step, metrics=None):
        await self.model.log(trajectories, metrics=metrics, step=step)  # <-

async def main(model: art.TrainableModel, backend, wrap, batches):
    book = Book(model)
    for batch in batches:
        groups = await art.gather_trajectory_groups(wrap(batch.items))
        result = await backend.train(model, groups)
        await book.enter(groups, result.step, result.metrics)
""",
)
GOOD = (
    """\
import art

async def main(model, backend, scenarios, held_out):
    for _ in range(10):
        groups = await gather(model, scenarios)
        val_groups = await gather(model, held_out)
        result = await backend.train(model, groups)
        await model.log(val_groups)
        await model.log(groups, split="train", metrics=result.metrics)
        await model.log(groups, "train")
        await model.log(metrics=result.metrics)

async def other(model, backend, scenarios, held_out):
    groups = await gather(model, scenarios)
    await backend.train(model, groups)
    groups = await gather(model, held_out)
    await model.log(groups)
    for step in range(10):
        groups = await gather(model, scenarios)
        if step % 5 == 0:
            await model.log(groups)
            continue
        await backend.train(model, groups)

async def logs(model, backend, groups, logger, options):
    await backend.train(model, groups)
    logger.log(groups)
    await model.log(groups, **options)

async def warms_up(model, backend, scenarios, ready):
    groups = await gather(model, scenarios)
    if ready:
        await backend.train(model, groups)
    else:
        await model.log(groups)
""",
)


def check(code: Code) -> Iterator[Found]:
    trained = [
        given
        for call in code.training.calls
        for given in (
            *given_to(call),
            *(value for _, value in code.contents.arguments(call)),
        )
        if isinstance(given, ast.Name) and not code.models.is_one(given)
    ]
    for call, model in code.method_calls("log"):
        groups = argument_of(call, "trajectories", ("trajectories", "split"))
        told = keyword(call, "split") is not None or len(call.args) > 1
        if (
            isinstance(groups, ast.Name)
            and any(
                _are_the_same(code, each, other)
                for each in _handed(code, groups)
                for other in trained
            )
            and isinstance(code.syntax.parents.get(call), ast.Await)
            and not told
            and all(each.arg is not None for each in call.keywords)
            and _is_trained(code, model)
        ):
            yield found(
                groups,
                'these groups are trained on, and log counts them as validation: write split="train"',
            )


def _handed(code: Code, groups: ast.Name) -> Iterator[ast.Name]:
    """Yield the groups, or what callers give a function that logs what it is given."""
    yield groups
    function = code.function_of(groups)
    if function is None or groups.id not in function.given:
        return
    for call in code.flow.functions.calls_of(code.syntax, function):
        given = argument_of(call, groups.id, function.positional)
        if isinstance(given, ast.Name):
            yield given


def _are_the_same(code: Code, logged: ast.Name, trained: ast.Name) -> bool:
    """Return whether two names stand for one list of groups, in one run of statements."""
    if logged.id != trained.id:
        return False
    blocks = [code.blocks.around(each) for each in (logged, trained)]
    reaching = [
        {id(each.node) for each in code.syntax.definitions.reaching(name)}
        for name in (logged, trained)
    ]
    return blocks[0] is blocks[1] and reaching[0] == reaching[1]


def _is_trained(code: Code, model: ast.expr) -> bool:
    """Return whether it is a model of ART, or what ``backend.train`` gets as one."""
    name = dotted(model)
    return code.models.is_one(model) or any(
        name is not None and name in map(dotted, given_to(call))
        for call in code.training.calls
    )
