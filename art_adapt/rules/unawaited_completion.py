"""A completion of ART's async client is not awaited, so the rollout raises

``model.openai_client()`` returns an ``AsyncOpenAI`` client: its ``create`` returns a coroutine.
Without ``await`` the next line fails ("'coroutine' object has no attribute 'choices'"), in every
rollout; in a thread it does as well. The method ``openai_client`` itself is no coroutine function.

``response = await model.openai_client().chat.completions.create(...)``

Evidence: art 0.5.18, model.py:323; art 0.5.23, model.py:648.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import (
    dotted,
    last_name,
    receiver,
    root_object,
    targets_of,
)
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART526", "unawaited-completion", Severity.WASTE)
BAD = (
    """\
import art

async def rollout(model: art.TrainableModel, messages):
    client = model.openai_client()
    response = client.chat.completions.create(model="m", messages=messages)  # <-
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0]])
""",
    """\
import art, asyncio

async def rollout(model: art.TrainableModel, messages):
    client = await model.openai_client()  # <-
    response = await asyncio.to_thread(
        client.chat.completions.create, model="m", messages=messages  # <-
    )
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0]])
""",
)
GOOD = (
    """\
import art, asyncio

async def rollout(model: art.TrainableModel, messages):
    client = model.openai_client()
    call = client.chat.completions.create(model="m", messages=messages)
    response = await asyncio.wait_for(call, timeout=30)
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0]])
""",
)


COROUTINE = (
    "this client is async: without await there is a coroutine instead of the completion, "
    "and the rollout raises"
)
THREADS = ("to_thread", "run_in_executor", "run_sync", "submit")


def check(code: Code) -> Iterator[Found]:
    for call, model in code.method_calls("openai_client"):
        awaited = code.syntax.parents.get(call)
        if isinstance(awaited, ast.Await) and code.models.is_one(model):
            yield found(
                awaited, "openai_client() is not a coroutine: awaiting it raises"
            )
    for call in code.calls:
        named = isinstance(call.func, ast.Name | ast.Attribute)
        if named and _is_alias(code, call) and _is_read_unawaited(code, call):
            yield found(call, COROUTINE)
    for completion in code.completions.calls:
        asked = completion.call
        if asked is None or not _is_async_client(code, completion.client):
            continue
        if completion.referenced:
            name = last_name(asked.func)
            if name in THREADS:
                yield found(
                    completion.callee,
                    "this client is async: in a thread its call only makes a coroutine; "
                    "await it here",
                )
        elif _is_read_unawaited(code, asked):
            yield found(asked, COROUTINE)


def _is_alias(code: Code, call: ast.Call) -> bool:
    """Return whether a name is called that holds the client's ``create``."""
    if any(each.call is call for each in code.completions.calls):
        return False
    values = code.values(call.func)
    made = [
        value.node.args[0]
        if isinstance(value.node, ast.Call) and value.node.args
        else value.node
        for value in values
    ]
    return all(
        isinstance(each, ast.Attribute)
        and each.attr == "create"
        and _is_async_client(code, each)
        for each in made
    )


def _is_async_client(code: Code, client: ast.expr) -> bool:
    return all(
        (model := receiver(value.node, "openai_client")) is not None
        and code.models.is_one(value.of(model))
        for value in code.values(root_object(client))
    )


def _is_read_unawaited(code: Code, call: ast.Call) -> bool:
    """Return whether the coroutine is used as the completion."""
    parent = code.syntax.parents.get(call)
    if isinstance(parent, ast.Attribute | ast.Subscript):
        return True
    target = next(iter(targets_of(parent)), None)
    if parent is None or target is None:
        return False
    read = code.reads(dotted(target), parent)
    uses = [code.syntax.parents[node] for node in read]
    reads = any(
        isinstance(use, ast.Attribute) and use.attr == "choices" for use in uses
    )
    return reads and all(isinstance(use, ast.Attribute | ast.Subscript) for use in uses)
