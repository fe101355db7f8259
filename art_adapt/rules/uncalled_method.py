"""A method of ART is not called, so the method itself is used instead of its result

``trajectory.messages`` and ``model.get_inference_name`` are methods. Without the parentheses a
request is sent a function that JSON cannot hold, and ``trajectory.messages[-1]`` raises
TypeError: every episode fails. ``@art.retry`` without parentheses takes the rollout for the number
of attempts: a call of it is one of a decorator, and raises as well.

Evidence: art 0.5.18, trajectories.py:71 and model.py:323, 398; art 0.5.23,
trajectories/__init__.py:946 and model.py:648, 773. utils/retry.py:19-43 (both).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import dotted, targets_of
from art_adapt.rules.code import Code
from art_adapt.rules.rule import (
    Fix,
    Found,
    Rule,
    Severity,
    found,
    insert_after,
)

RULE = Rule("ART529", "uncalled-method", Severity.WASTE)
BAD = (
    """\
import art

async def rollout(client, model: art.Model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[scenario])
    response = await client.chat.completions.create(
        model=model.get_inference_name, messages=trajectory.messages  # <-
    )
    trajectory.messages_and_choices.append(response.choices[0])
    print(trajectory.messages[-1], len(trajectory.messages))  # <-
    await model.backend.close()  # <-
    client = model.openai_client  # <-
    await client.chat.completions.create(model="m", messages=[])
    return trajectory

async def main(model: art.TrainableModel, backend: art.Backend):
    try:
        await model.register(backend)
    finally:
        await backend.close  # <-
""",
    """\
import art

async def rollout(model, s) -> art.Trajectory:
    trajectory = art.Trajectory(messages_and_choices=[s])
    if s.easy:
        return trajectory.finish  # <-
    return trajectory.finish()
""",
    """\
import art

@art.retry  # <-
async def rollout(model: art.Model, scenario):
    return art.Trajectory(messages_and_choices=[scenario])
""",
)
FIXED = (
    BAD[0]
    .replace("get_inference_name", "get_inference_name()")
    .replace("trajectory.messages ", "trajectory.messages() ")
    .replace("trajectory.messages[", "trajectory.messages()[")
    .replace("(trajectory.messages)", "(trajectory.messages())")
    .replace("model.backend.", "model.backend().")
    .replace("= model.openai_client", "= model.openai_client()")
    .replace("backend.close ", "backend.close() ")
)
GOOD = (
    FIXED.replace("  # <-", ""),
    """\
import art

class Episode(art.Trajectory):
    pass

async def main(model: art.TrainableModel, trajectory: art.Trajectory):
    get_step = model.get_step
    shown = map(art.Trajectory.messages, [trajectory])
    return await art.retry(model.get_step)(), trajectory.messages, shown
""",
)
OF_TRAJECTORY = frozenset({"messages", "for_logging", "finish"})
OF_MODEL = frozenset(
    {"get_inference_name", "openai_client", "litellm_completion_params", "backend"}
)
OF_BACKEND = frozenset({"close", "train", "register"})
# What the results of these methods have, and a method has not.
USED = {
    "messages": ("append", "copy", "index", "extend", "pop"),
    "openai_client": ("chat", "with_options", "responses", "completions"),
    "backend": (
        "train",
        "register",
        "close",
        "_train_model",
        "_experimental_fork_checkpoint",
    ),
    "get_inference_name": ("split", "startswith", "replace"),
}
READING = ("len", "list", "iter", "sorted", "reversed", "enumerate", "str")


def check(code: Code) -> Iterator[Found]:
    for node in code.syntax.nodes:
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Load)
            and node.attr in OF_TRAJECTORY | OF_MODEL | OF_BACKEND
            and _is_read(code, node)
            and _is_arts(code, node)
        ):
            yield found(
                node,
                f"{node.attr} is a method: without () "
                + ("this shows the method" if _is_shown(code, node) else "this raises"),
                Fix("call it", (insert_after(node, "()"),)),
            )
    for function in code.syntax.functions.values():
        for each in function.node.decorator_list:
            if code.art_name(each) in ("art.retry", "art.utils.retry"):
                yield found(
                    each,
                    "art.retry makes a decorator: without () it gets the function for the number "
                    "of attempts, and calling that raises",
                    Fix("call it", (insert_after(each, "()"),)),
                )


def _is_shown(code: Code, node: ast.Attribute) -> bool:
    """Return whether it only becomes a text, which raises nothing."""
    around = code.syntax.parents[node]
    called = around.func if isinstance(around, ast.Call) else None
    return isinstance(around, ast.FormattedValue) or (
        isinstance(called, ast.Name) and called.id == "str"
    )


def _is_arts(code: Code, node: ast.Attribute) -> bool:
    """Return whether it is a method of ART's trajectory or model, and no field of a class here."""
    if node.attr in OF_MODEL:
        return code.models.is_one(node.value)
    if node.attr in OF_BACKEND:
        return code.models.is_backend(node.value)
    fields = {
        target.id
        for each in code.syntax.classes.values()
        for statement in each.body
        if isinstance(statement, ast.AnnAssign | ast.Assign)
        for target in ast.walk(statement)
        if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store)
    }
    kept = f"self.{node.attr}" in code.syntax.assignments
    return not kept and node.attr not in fields and code.trajectories.is_one(node.value)


def _is_read(code: Code, node: ast.Attribute) -> bool:
    """Return whether the result is wanted here: an item of it, all of it, or as an argument."""
    around = code.syntax.parents[node]
    if isinstance(around, ast.Await):
        return True
    if isinstance(around, ast.keyword):
        call = code.syntax.parents[around]
        asked = any(each.call is call for each in code.completions.calls)
        return asked and around.arg in ("messages", "model", "input")
    if isinstance(around, ast.Call):
        named = around.func
        return node in around.args and (
            isinstance(named, ast.Name) and named.id in READING
        )
    if isinstance(around, ast.For | ast.AsyncFor | ast.comprehension):
        return around.iter is node
    if isinstance(around, ast.Subscript):
        return around.value is node
    if isinstance(around, ast.BinOp | ast.Starred | ast.FormattedValue):
        return True
    if isinstance(around, ast.Return):
        return node.attr == "finish" and code.trajectories.in_rollout(node)
    used = USED.get(node.attr, ())
    name = next(iter(targets_of(around)), None)
    if isinstance(name, ast.Name):
        return any(
            isinstance(later, ast.Attribute)
            and later.attr in used
            and dotted(later.value) == name.id
            for later in code.syntax.owned_by(code.syntax.owner(node))
        )
    return isinstance(around, ast.Attribute) and around.attr in used
