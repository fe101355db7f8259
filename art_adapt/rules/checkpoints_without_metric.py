"""The metric of delete_checkpoints is never logged, or is best when low: the best one is deleted

``delete_checkpoints()`` keeps the latest checkpoint, and the one with the highest ``val/reward``
or other metric that it is given. If nothing logs that metric there is no best one, and every
checkpoint but the latest is deleted, with only a log message. A metric has its split before it:
``reward`` is logged as ``train/reward`` or ``val/reward``. Of a loss or an error, the highest is the
worst.

Log validation with ``split="val"``, or name a metric that is logged and is best when high:
``delete_checkpoints("train/reward")``.

Evidence: art 0.5.18, model.py:1170-1201 (sorts, and takes the last) and 638-651; art 0.5.23,
model.py:1667-1698.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import (
    argument_of,
    dotted,
    first_argument,
    keyword,
    receiver,
)
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
    """\
import art

async def main(model, backend, groups):
    result = await backend.train(model, groups)
    await model.log(groups, split="train", step=result.step)
    await model.delete_checkpoints("reward")  # <-
    await model.delete_checkpoints(best_checkpoint_metric="loss/train")  # <-
""",
    """\
import art

async def evaluate(model, rollouts, step):
    groups = await art.gather_trajectory_groups(rollouts)
    await model.log(groups, split="eval", step=step)
    await model.delete_checkpoints()  # <-

async def main(model, backend, groups, held_out):
    result = await backend.train(model, groups)
    await model.log(groups, split="train", step=result.step)
    await evaluate(model, held_out, result.step)
""",
    """\
import art
from dataclasses import dataclass

@dataclass
class Config:
    best: str = "val/entity_f1"

async def rollout(model, doc):
    score = await model.score(doc)
    return art.Trajectory(messages_and_choices=[], reward=score, metrics={"f1": score})

async def main(model, backend, docs, config: Config):
    groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(model, doc) for _ in range(4)) for doc in docs
    )
    result = await backend.train(model, groups)
    await model.log(groups, split="val", step=result.step)
    await model.delete_checkpoints(best_checkpoint_metric=config.best)  # <-

run(main(art.TrainableModel(name="m"), None, [], Config()))
""",
)
LOGGED = """\
import art

async def rollout(model, doc):
    score = await model.score(doc)
    return art.Trajectory(messages_and_choices=[], reward=score, metrics={"entity_f1": score})

async def main(model, backend, docs):
    groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(model, doc) for _ in range(4)) for doc in docs
    )
    result = await backend.train(model, groups)
    await model.log(groups, split="val", step=result.step)
    await model.delete_checkpoints("val/entity_f1")
    await model.delete_checkpoints("val/exception_rate")
"""
GOOD = (
    LOGGED,
    # Names that are put together.
    LOGGED.replace(
        "import art\n", 'import art\n\nKINDS = ("entity", "date")\n'
    ).replace(
        '    return art.Trajectory(messages_and_choices=[], reward=score, metrics={"entity_f1": score})',
        "    trajectory = art.Trajectory(messages_and_choices=[], reward=score)\n"
        '    trajectory.metrics.update({f"{kind}_f1": score for kind in KINDS})\n'
        "    return trajectory",
    ),
    BAD[0].replace("()  # <-", '("train/reward")'),
    BAD[0].replace("  # <-", "").replace('"train", step', '"val", step'),
)


def check(code: Code) -> Iterator[Found]:
    if not code.training.calls:
        return
    for call, _ in code.method_calls("delete_checkpoints"):
        metric = first_argument(call, "best_checkpoint_metric")
        named = DEFAULT if metric is None else code.constant(metric)
        problem = _problem(code, named) if isinstance(named, str) else ""
        if problem:
            yield found(call, f"{problem}; name a logged metric, as in {TRAIN_REWARD}")


DEFAULT = "val/reward"
TRAIN_REWARD = 'delete_checkpoints("train/reward")'
# Sections of ART's own metrics: what is best when low.
BEST_LOW = ("loss/", "costs/", "time/")
# What ART logs of each split beside a rollout's own metrics (art 0.5.18 and 0.5.23, model.py).
OF_ART = ["reward", "reward_std_dev", "exception_rate", "duration", "completion_tokens"]
WITHOUT_SPLIT = ("step", "training_step", "recorded_at")


def _problem(code: Code, metric: str) -> str:
    """Return what is wrong with a metric, nothing if it may be right."""
    if "/" not in metric and metric not in WITHOUT_SPLIT:
        return f"no metric is logged as {metric}, only with its split before it"
    if metric == DEFAULT and not _validates(code):
        return f"{metric} is never logged: every checkpoint but the latest is deleted"
    if metric.startswith(BEST_LOW):
        return f"the checkpoint with the highest {metric} is kept, which is the worst"
    split, _, name = metric.partition("/")
    is_own = split in ("train", "val") and name not in OF_ART
    if is_own and _is_nowhere_else(code, name):
        return f"{metric} is never logged: every checkpoint but the latest is deleted"
    return ""


def _is_nowhere_else(code: Code, name: str) -> bool:
    """Return whether a file that makes rollouts and trains them spells a metric's name only once.

    What another function does with a trajectory may set it, and so may a name that is put together.
    """
    if not code.training.whole_loop or code.rewards.may_be_set_out_of_sight:
        return False
    if not all(_is_spelled(node) for node in code.syntax.nodes):
        return False
    words = [node.value for node in code.syntax.nodes if isinstance(node, ast.Constant)]
    words += [node.arg for node in code.syntax.nodes if isinstance(node, ast.keyword)]
    return sum(str(word).rpartition("/")[2] == name for word in words) <= 1


def _is_spelled(node: ast.AST) -> bool:
    """Return whether a node gives no metric, or writes its name out."""
    match node:
        case ast.keyword(arg="metrics", value=given):
            # What a training step returned has names of its own.
            return isinstance(given, ast.Attribute) or _names_all(given)
        case ast.Assign(targets=[ast.Attribute(attr="metrics")], value=given):
            return _names_all(given)
        case ast.Subscript(value=ast.Attribute(attr="metrics"), ctx=ast.Store()):
            return isinstance(node.slice, ast.Constant)
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="metrics"))):
            named = all(each.arg is not None for each in node.keywords)
            return named and all(map(_names_all, node.args))
    return True


def _names_all(given: ast.expr) -> bool:
    """Return whether it is a mapping, or a text, that is written out."""
    if isinstance(given, ast.Dict):
        return all(isinstance(key, ast.Constant) for key in given.keys)
    return isinstance(given, ast.Constant)


def _validates(code: Code) -> bool:
    """Return whether validation may be logged, as ``log`` does by default."""
    for call, owner in code.method_calls("log"):
        named = keyword(call, "split") is not None
        is_models = call.args and "model" in ast.unparse(owner).lower()
        if (named or is_models) and _may_be_validation(code, call):
            return True
    for call in code.calls:
        name = dotted(call.func) or ""
        if LOGS_VALIDATION.search(name) and _may_log(code, call):
            return True
    deleting = code.method_calls("delete_checkpoints")
    asked = sum(_asks_for_default(call) for call, _ in deleting)
    return code.source.text.count(DEFAULT) > asked


def _asks_for_default(call: ast.Call) -> bool:
    return DEFAULT in ast.unparse(call)


def _may_log(code: Code, call: ast.Call) -> bool:
    """Return whether a function may log validation, or cannot be seen."""
    body = code.entered(call)
    return body is None or any(
        receiver(node, "log") and _may_be_validation(code, node)
        for node in body.nodes
        if isinstance(node, ast.Call)
    )


def _may_be_validation(code: Code, log: ast.Call) -> bool:
    """Return whether the split of a call of ``log`` may be validation's."""
    split = argument_of(log, "split", ("trajectories", "split"))
    return split is None or code.constant(split) in ("val", ...)
