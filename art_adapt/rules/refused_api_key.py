"""The policy's endpoint is asked with a made-up API key, and refuses every request

``LocalBackend`` starts its server with a key, and ``ServerlessBackend`` needs that of your account. A
client with ``api_key="EMPTY"``, as other local servers allow it, is answered with 401: all rollouts of
the step fail.

Pass ``model.inference_api_key``, or take ``model.openai_client()``.

Evidence: art 0.5.18, local/backend.py:620 and dev/openai_server.py:30 (the key is "default" unless
the server's arguments have another); art 0.5.23, local/backend.py:1246.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import attribute_of, keyword
from art_adapt.rules.code import Code, Value
from art_adapt.rules.code.annotated import annotation
from art_adapt.rules.rule import Fix, Found, Rule, Severity, found, replace

RULE = Rule("ART556", "refused-api-key", Severity.WASTE)
BAD = (
    """\
import art
from openai import AsyncOpenAI

async def rollout(model: art.TrainableModel, question):
    client = AsyncOpenAI(base_url=model.inference_base_url, api_key="EMPTY")  # <-
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])
    response = await client.chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
    """\
import art
import openai

KEY = "not-needed"

class Policy:
    def __init__(self, model: art.TrainableModel):
        url = model.inference_base_url
        self.client = openai.AsyncOpenAI(api_key=KEY, base_url=url)  # <-

async def train(policy, backend, groups):
    await backend.train(policy, groups)
""",
)
FIXED = BAD[0].replace('"EMPTY"', "model.inference_api_key")
GOOD = (
    FIXED.replace("  # <-", ""),
    BAD[0].replace('"EMPTY"', '"default"').replace("  # <-", ""),
    """\
import art
from openai import AsyncOpenAI

async def judge(essay):
    client = AsyncOpenAI(base_url="http://localhost:8000/v1", api_key="EMPTY")
    return await client.chat.completions.create(model="judge", messages=[essay])

async def benchmark(model: art.Model, question):
    client = AsyncOpenAI(base_url=model.inference_base_url, api_key="EMPTY")
    return await client.chat.completions.create(model=model.name, messages=[question])
""",
)
OF_LOCAL = "default"  # LocalBackend's own key
CLIENTS = ("openai.OpenAI", "openai.AsyncOpenAI")


def check(code: Code) -> Iterator[Found]:
    for call in code.calls:
        if code.syntax.qualified(call.func) not in CLIENTS:
            continue
        url, given = keyword(call, "base_url"), keyword(call, "api_key")
        key = code.constant(given)
        if url is None or given is None or not isinstance(key, str) or key == OF_LOCAL:
            continue
        owners = [(each, attribute_of(each.node)) for each in code.values(url)]
        if owners and all(
            read is not None
            and read[1] == "inference_base_url"
            and _is_trained(code, each.of(read[0]))
            for each, read in owners
        ):
            yield found(
                call,
                f"ART's server refuses the key {key!r}, so every request fails: pass "
                "model.inference_api_key",
                _fix(given, owners[0][1]),
            )


def _is_trained(code: Code, model: Value) -> bool:
    """Return whether it is a model of ART that is trained, and none that another server runs."""
    named = annotation(code.flow, model).strip("'\"").rpartition(".")[2]
    return code.models.is_trainable(model) or (
        code.models.is_one(model)
        and (named == "TrainableModel" or bool(code.training.calls))
    )


def _fix(given: ast.expr, url: tuple[ast.expr, str] | None) -> Fix | None:
    """Return the fix that takes the key from the model that the URL is of, where it is named."""
    if url is None or not isinstance(url[0], ast.Name):
        return None
    edit = replace(given, f"{url[0].id}.inference_api_key")
    return Fix("pass the model's own key", (edit,))
