"""Sampling settings change the distribution, so the importance weights are wrong

Penalties, ``top_p`` below 1, ``top_k``, ``logit_bias`` and ``tool_choice="required"`` sample
from another distribution than the one whose logprobs the engine reports and the trainer
computes. The model is also trained for behaviour that it only shows under these settings.

Evidence: art 0.5.18 and 0.5.23, loss.py (the ratio of new to sampled logprobs).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART404", "sampling-penalty", Severity.UNTIDY)
BAD = (
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(
        model=model.get_inference_name(),
        messages=messages,
        frequency_penalty=0.5,  # <-
        top_p=0.9,  # <-
        tool_choice="required",  # <-
    )
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
)
GOOD = (
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(
        model=model.get_inference_name(), messages=messages, top_p=1.0, presence_penalty=0,
        tool_choice="auto",
    )
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
)
NEUTRAL: dict[str, tuple[object, ...]] = {
    "frequency_penalty": (0, None),
    "presence_penalty": (0, None),
    "repetition_penalty": (1, None),
    "top_p": (1, None),
    "top_k": (-1, 0, None),
    "min_p": (0, None),
    "tool_choice": ("auto", "none", None),
}


def check(code: Code) -> Iterator[Found]:
    for name, neutral in NEUTRAL.items():
        for given, value in code.completions.sampled_with(name):
            if isinstance(given, ast.Dict) or (
                value is not ... and value not in neutral
            ):
                yield found(
                    given,
                    f"{name} changes what is sampled but not the logprobs used in training, "
                    "so the importance weights are wrong",
                )
