"""Another model's choice is recorded, so training uses tokens the policy never sampled

Rollouts that sample from a named model (``model="gpt-4o"``) and record its choices train the
local model on tokens that it never sampled: the IDs belong to another vocabulary, and the
importance weights compare two different models.

Ask ``model.get_inference_name()`` at ``model.inference_base_url``. Do not put a judge's answer
on the trajectory.

Evidence: art 0.5.18, preprocessing/tokenize.py:463-480 (a token without an ID is looked up in
the vocabulary, or becomes end-of-text); art 0.5.18 and 0.5.23, loss.py (the ratio of new to
sampled logprobs).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code, is_api_model
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART105", "foreign-choice", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(client, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(model="gpt-4o", messages=messages)
    trajectory.messages_and_choices.append(response.choices[0])  # <-
    return trajectory
""",
)
GOOD = (
    """\
import art

async def rollout(model, client, judge, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    name = model.get_inference_name()
    response = await client.chat.completions.create(model=name, messages=messages)
    trajectory.messages_and_choices.append(response.choices[0])
    verdict = await judge.chat.completions.create(model="gpt-4o", messages=messages)
    trajectory.reward = float(verdict.choices[0].message.content)
    return trajectory
""",
)


def check(code: Code) -> Iterator[Found]:
    named: dict[ast.Call | None, str | None] = {
        call.call: code.completions.literal_model(call)
        for call in code.completions.calls
        if call.call
    }
    for put in code.trajectories.puts:
        if not code.sampled.is_choice(put.value):
            continue
        models = {named.get(call) for call in code.sampled.sources(put.value)}
        name = models.pop() if len(models) == 1 else None
        if is_api_model(name):
            yield found(
                put.value,
                f"this choice is sampled from {name!r}, not from the model in training, "
                "which is then trained on tokens it never sampled",
            )
