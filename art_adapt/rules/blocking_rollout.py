"""A blocking call in an async rollout stalls all other rollouts

Rollouts share one event loop. ``time.sleep``, ``requests`` or the synchronous OpenAI client in
an ``async def`` stops all of them while one waits: a step takes the sum of its rollouts' times
instead of the longest one, and the GPU idles.

Use ``await asyncio.sleep``, an async client, or ``await asyncio.to_thread(...)``.

Evidence: art 0.5.18 and 0.5.23, gather.py (one event loop); measured in
tests/rules/test_harm.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.nodes import dotted

RULE = Rule("ART512", "blocking-rollout", Severity.WASTE)
BAD = (
    """\
import art, time, requests
from openai import OpenAI

client = OpenAI()

async def rollout(model, messages):
    time.sleep(1)  # <-
    requests.get("x")  # <-
    response = client.chat.completions.create(model="m", messages=messages)  # <-
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0]])
""",
)
GOOD = (
    """\
import art, asyncio, time
from openai import AsyncOpenAI, OpenAI

client = AsyncOpenAI()
blocking = OpenAI()

async def rollout(model, messages):
    await asyncio.sleep(1)
    response = await client.chat.completions.create(model="m", messages=messages)
    def work():
        time.sleep(1)
        return blocking.chat.completions.create(model="m", messages=messages)
    await asyncio.to_thread(work)
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0]])
""",
)
BLOCKING = (
    "time.sleep",
    "requests.get",
    "requests.post",
    "requests.request",
    "subprocess.run",
    "subprocess.check_output",
    "subprocess.call",
    "os.system",
    "litellm.completion",
)
SYNC_CLIENTS = ("openai.OpenAI", "openai.AzureOpenAI")


def check(code: Code) -> Iterator[Found]:
    for call in code.calls:
        if not code.is_async(call) or not code.trajectories.in_rollout(call):
            continue
        if any(isinstance(node, ast.Lambda) for node in code.syntax.ancestors(call)):
            continue
        if code.syntax.owner(call).startswith("main"):
            continue
        name = code.syntax.qualified(call.func) or ""
        if name in BLOCKING or _is_sync_completion(code, call):
            yield found(
                call,
                f"{dotted(call.func) or 'this'} blocks every rollout of the step while it "
                "waits: await an async equivalent, or asyncio.to_thread",
            )


def _is_sync_completion(code: Code, call: ast.Call) -> bool:
    completion = code.completions.by_call.get(call)
    if completion is None or completion.recorded:
        return False
    root: ast.expr = completion.client
    while isinstance(root, ast.Attribute):
        root = root.value
    values = code.syntax.values_of(root)
    return bool(values) and all(
        isinstance(value, ast.Call)
        and code.syntax.qualified(value.func) in SYNC_CLIENTS
        for value in values
    )
