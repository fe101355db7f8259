"""A completion lacks the token IDs that ART 0.5.20 and newer train on, so backend.train raises

Since ART 0.5.20 a Choice is trainable if it has logprobs, ``token_ids`` and
``prompt_token_ids``. ``model.openai_client().chat.completions.create`` puts them there.
Another client, ``.parse`` and ``.stream`` leave the prompt's IDs on the response or do not
request any: ``backend.train`` raises "Trainable Choice is missing vLLM
prompt_token_ids/token_ids" after the rollouts have been paid for.

Use ``model.openai_client()``, or pass the response to ``art.openai.finalize_chat_completion``.
The hooks of ``art_recording`` do this themselves.

Evidence: art 0.5.23, preprocessing/tokenize.py:704-709 and model.py:109-139 and 264.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import keyword, last_name, receiver, root_object
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART107", "no-token-ids", Severity.UNTIDY, since="0.5.20")
BAD = (
    """\
import art
from openai import AsyncOpenAI

async def rollout(model, messages):
    client = AsyncOpenAI(base_url=model.inference_base_url, api_key=model.inference_api_key)
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(  # <-
        model=model.get_inference_name(), messages=messages
    )
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
)
GOOD = (
    """\
import art

async def rollout(model, messages):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(
        model=model.get_inference_name(), messages=messages
    )
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
)
KNOWN = ("prompt_token_ids", "finalize_chat_completion", "capture_auto_trajectory")


def check(code: Code) -> Iterator[Found]:
    if any(word in code.source.text for word in KNOWN) or not code.trajectories.puts:
        return
    for call in code.completions.of_policy:
        if call.recorded or call.api != "chat.completions":
            continue
        values = code.syntax.values_of(root_object(call.client))
        own = any(map(_is_own_client, values))
        of_art = any(receiver(value, "openai_client") for value in values)
        if own or (of_art and call.method in ("parse", "stream")):
            yield found(
                call.callee,
                "this completion has no prompt_token_ids, so backend.train of ART 0.5.20 "
                "raises; use model.openai_client().chat.completions.create",
            )


def _is_own_client(value: ast.expr) -> bool:
    if not isinstance(value, ast.Call):
        return False
    name = last_name(value.func)
    url = keyword(value, "base_url")
    return name in ("AsyncOpenAI", "OpenAI") and "inference_base_url" in (
        ast.unparse(url) if url is not None else ""
    )
