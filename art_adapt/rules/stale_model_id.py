"""The policy is asked for by a name that is not served, or not any more

LocalBackend serves each step's weights as ``name@step``: ``model.name`` is a 404, and every
rollout of the run fails. ``model.inference_model_name`` was fixed when the model was
registered: after the first step it samples an old policy.

``model.get_inference_name()``, once in each rollout.

Written down in: art 0.5.18, local/backend.py:332-369, dev/openai_server.py:22-41 and
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
    for call in code.completions:
        model = call.model
        if (
            not isinstance(model, ast.Attribute)
            or model.attr not in ("name", "inference_model_name")
            or not isinstance(model.value, ast.Name)
            or not _is_trained(code, model.value)
        ):
            continue
        # Other backends may serve the latest weights under one name.
        if model.attr != "name" and not any(code.art_calls("LocalBackend")):
            continue
        name = model.value.id
        what = (
            "a 404 on LocalBackend, which serves name@step"
            if model.attr == "name"
            else "the policy of the step at which the model was registered"
        )
        fix = Fix(
            "ask for get_inference_name()",
            (replace(model, f"{name}.get_inference_name()"),),
        )
        yield found(
            model, f"{name}.{model.attr} is {what}: use get_inference_name()", fix
        )


def _is_trained(code: Code, name: ast.Name) -> bool:
    """Whether it is ART's model: annotated so, made so, or used so."""
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
