"""The policy is requested by the wrong name, so requests fail or use old weights

LocalBackend serves the weights of each step as ``name@step``: ``model.name`` is answered with
a 404, and every rollout of the run fails. ``model.inference_model_name`` is fixed when the
model is registered: after the first step it samples from an old policy.

Use ``model.get_inference_name()``, called once in each rollout.

Evidence: art 0.5.18, local/backend.py:332-369, dev/openai_server.py:22-41 and
model.py:1164-1168; art 0.5.23, local/backend.py:795-847 and model.py:1661-1665.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Fix, Found, Rule, Severity, found, replace

RULE = Rule("ART511", "stale-model-id", Severity.WASTE)
BAD = (
    """\
import art

async def rollout(model: art.TrainableModel, messages):
    client = model.openai_client()
    response = await client.chat.completions.create(model=model.name, messages=messages)  # <-
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0]])
""",
    """\
import art, litellm

async def rollout(model: art.Model, messages):
    if model.trainable:
        name = f"hosted_vllm/{model.name}"  # <-
    else:
        name = model.name
    response = await litellm.acompletion(model=name, messages=messages)
    options = {"model": model.name}  # <-
    await model.openai_client().chat.completions.create(messages=messages, **options)
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0]])
""",
)
FIXED = BAD[0].replace("model=model.name", "model=model.get_inference_name()")
GOOD = (
    FIXED.replace("  # <-", ""),
    """\
import art

async def rollout(model: art.Model, messages):
    response = await client.chat.completions.create(model=settings.name, messages=messages)
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0]])
""",
    """\
import art

async def rollout(model: art.TrainableModel, client, messages):
    response = await client.chat.completions.create(
        model=model.inference_model_name, messages=messages
    )
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0]])
""",
)


def check(code: Code) -> Iterator[Found]:
    # Other backends may serve the latest weights under a fixed name.
    local = any(code.art_calls("LocalBackend"))
    serverless = any(code.art_calls("ServerlessBackend"))
    for call in code.completions.calls:
        given = code.completions.argument(call, "model") or call.model
        values = [given, *code.syntax.values_of(given)] if given is not None else []
        for value in values:
            model = _name(value)
            if model is None or not _is_trained(code, model.value):
                continue
            if _is_for_others(code, value):
                continue
            if not local and (model.attr != "name" or serverless):
                continue
            name = ast.unparse(model.value)
            what = (
                "a 404 on LocalBackend, which serves name@step"
                if model.attr == "name"
                else "the policy of the step at which the model was registered"
            )
            edit = replace(model, f"{name}.get_inference_name()")
            # Positions inside f-strings are not exact before Python 3.12.
            fix = (
                Fix("ask for get_inference_name()", (edit,)) if model is value else None
            )
            message = f"{name}.{model.attr} is {what}: use get_inference_name()"
            yield found(value, message, fix)


def _name(value: ast.expr) -> ast.Attribute | None:
    """Return the ``model.name`` that is the value, or the end of an f-string."""
    if isinstance(value, ast.JoinedStr) and value.values:
        last = value.values[-1]
        value = last.value if isinstance(last, ast.FormattedValue) else value
    if isinstance(value, ast.Attribute) and value.attr in (
        "name",
        "inference_model_name",
    ):
        return value
    return None


def _is_for_others(code: Code, value: ast.expr) -> bool:
    """Return whether it is in the branch where ``model.trainable`` is false."""
    inner: ast.AST = value
    for ancestor in code.syntax.ancestors(value):
        if isinstance(ancestor, ast.If | ast.IfExp) and "trainable" in ast.unparse(
            ancestor.test
        ):
            other = ancestor.orelse
            return inner in other if isinstance(other, list) else inner is other
        inner = ancestor
    return False


def _is_trained(code: Code, name: ast.expr) -> bool:
    """Return whether it is annotated or constructed as a model of ART."""
    if not isinstance(name, ast.Name):
        return False
    function = code.function_of(name)
    while function is not None:
        arguments = function.node.args
        for argument in (
            *arguments.posonlyargs,
            *arguments.args,
            *arguments.kwonlyargs,
        ):
            if argument.arg == name.id:
                return argument.annotation is not None and "art." in (
                    code.art_name(argument.annotation) or ""
                )
        outer = function.qualname.rpartition(".")[0]
        function = code.syntax.functions.get(outer)
    values = code.syntax.values_of(name)
    return any(
        isinstance(value, ast.Call)
        and (code.art_name(value.func) or "").endswith("TrainableModel")
        for value in values
    )
