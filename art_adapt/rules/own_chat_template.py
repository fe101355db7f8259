"""A chat template is sent with the request, so training renders another prompt than sampling

``extra_body={"chat_template": ...}`` is the engine's alone. Training renders the conversation
with the tokenizer's own template: the tokens of the prompt differ from those that the policy
saw, and so do their positions.

Give the model its template instead: on ART 0.5.23 ``chat_template`` in ``_internal_config``.
On 0.5.18, change the tokenizer's template in the base model's folder.

Evidence: art 0.5.18, preprocessing/tokenize.py:365-405 (apply_chat_template without a
template) and model.py:367-374 (only ``chat_template_kwargs`` reach the request by
themselves).
"""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART407", "own-chat-template", Severity.GARBAGE)
BAD = (
    """\
import art

TEMPLATE = open("template.jinja").read()

async def rollout(client, model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[scenario])
    response = await client.chat.completions.create(
        model=model.get_inference_name(),
        messages=trajectory.messages(),
        extra_body={"chat_template": TEMPLATE},  # <-
    )
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
)
GOOD = (
    """\
import art

async def rollout(client, model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[scenario])
    response = await client.chat.completions.create(
        model=model.get_inference_name(),
        messages=trajectory.messages(),
        extra_body={"chat_template_kwargs": {"enable_thinking": False}},
    )
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
)


def check(code: Code) -> Iterator[Found]:
    for call in code.completions.of_policy:
        given = code.completions.argument(call, "chat_template")
        if given is None or given.constant is None or call.call is None:
            continue
        body = code.contents.given(call.call, "extra_body")
        yield found(
            given.at if body is None else body,
            "training renders the conversation with the tokenizer's own template, so it "
            "trains on another prompt than was sampled from",
        )
