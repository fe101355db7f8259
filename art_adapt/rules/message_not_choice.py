"""A message is recorded instead of its Choice, so the turn is not trained

ART trains only on ``Choice`` objects: they carry the tokens that were sampled and their
logprobs. ``choice.message``, ``choice.model_dump()`` and the like are context at best: the
turn is not trained, but its reward still shifts the group's mean. If such a message comes
before a later Choice, ART 0.5.18 ends the step with an AttributeError or KeyError.

The choice of ``litellm.acompletion`` is another class than openai's: ART takes it for a message
without a role. ``art.utils.litellm.convert_litellm_choice_to_openai`` makes a Choice of it.

Append the choice itself: ``trajectory.messages_and_choices.append(response.choices[0])``.

Evidence: art 0.5.18, preprocessing/tokenize.py:331-347 and 384-390; art 0.5.23,
preprocessing/tokenize.py:694-704 (``isinstance(item, Choice)``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.calls import Api
from art_adapt.rules.code import Code, Kind, Value
from art_adapt.rules.rule import Fix, Found, Rule, Severity, TextEdit, end_of, found

RULE = Rule("ART201", "message-not-choice", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(client, model):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": "Hi"}])
    response = await client.chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(response.choices[0].message)  # <-
    return trajectory
""",
    """\
import art

async def rollout(client, model):
    t = art.Trajectory()
    completion = await client.chat.completions.create(model="m", messages=t.messages())
    choice = completion.choices[0]
    t.messages_and_choices += [choice.message.model_dump()]  # <-
    items = t.messages_and_choices
    items.append(choice.to_dict())  # <-
    return t
""",
    """\
import art, litellm

async def complete(model, messages):
    return await litellm.acompletion(**model.litellm_completion_params(), messages=messages)

async def rollout(model):
    t = art.Trajectory(messages_and_choices=[{"role": "user", "content": "Hi"}])
    response = await complete(model, t.messages())
    t.messages_and_choices.append(response.choices[0])  # <-
    return t
""",
    """\
import art

async def rollout(model, s):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": s.text}])
    response = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    said = response.choices[0].message.model_dump()
    kept = {name: value for name, value in said.items() if value is not None}
    trajectory.messages_and_choices.append(kept)  # <-
    trajectory.messages_and_choices.append({**said, "name": "agent"})  # <-
    return trajectory
""",
)
FIXED = BAD[0].replace("choices[0].message)", "choices[0])")
GOOD = (
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory()
    response = await client.chat.completions.create(model="m", messages=messages)
    messages.append(response.choices[0].message)
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory()
    response = await client.chat.completions.create(model="m", messages=messages)
    if model.trainable:
        trajectory.messages_and_choices.append(response.choices[0])
    else:
        trajectory.messages_and_choices.append(response.choices[0].message.to_dict())
    return trajectory
""",
    """\
import art, litellm
from art.utils.litellm import convert_litellm_choice_to_openai as convert

async def rollout(model, client):
    t = art.Trajectory(messages_and_choices=[{"role": "user", "content": "Hi"}])
    response = await litellm.acompletion(
        **model.litellm_completion_params(), messages=t.messages()
    )
    choice = convert(response.choices[0])
    t.messages_and_choices.append(choice)
    return t

async def either(model: art.Model, question):
    t = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])
    if model.trainable:
        client = model.openai_client()
        response = await client.chat.completions.create(model="m", messages=t.messages())
        t.messages_and_choices.append(response.choices[0])
    else:
        response = await litellm.acompletion(model="gpt-4o", messages=t.messages())
        t.messages_and_choices.append(response.choices[0])
    return t

async def benchmark(question):
    t = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])
    response = await litellm.acompletion(model="openai/gpt-4o", messages=t.messages())
    t.messages_and_choices.append(response.choices[0])
    return t.reward
""",
)
WHAT = {
    Kind.MESSAGE: "the message alone",
    Kind.DUMPED_MESSAGE: "the message as a dict",
    Kind.DUMPED_CHOICE: "the choice as a dict",
}


def check(code: Code) -> Iterator[Found]:
    for put in code.trajectories.puts:
        kind = code.sampled.kind(put.value)
        of_litellm = kind is Kind.CHOICE and _is_of_litellm(code, put.value)
        if kind is None or (kind not in WHAT and not of_litellm):
            continue
        if code.sampled.is_for_another_model(put.by):
            continue
        if code.sampled.by_another_model(put.value):
            continue
        if of_litellm:
            yield found(
                put.at,
                "litellm's choice is no Choice of openai's, so this turn is not trained; convert "
                "it with art.utils.litellm.convert_litellm_choice_to_openai",
            )
            continue
        yield found(
            put.at,
            f"{WHAT[kind]} has no tokens, so this turn is not trained; append the Choice",
            _fix(code, put.at),
        )


def _is_of_litellm(code: Code, choice: Value) -> bool:
    """Return whether a choice certainly is one that litellm made, as it came."""
    calls = code.sampled.sources(choice)
    known = code.completions.by_call
    return (
        bool(calls)
        and all(
            call in known and known[call].api is Api.LITELLM for call in calls if call
        )
        and None not in calls
        and all(isinstance(each.node, ast.Subscript) for each in code.values(choice))
    )


def _fix(code: Code, value: ast.expr) -> Fix | None:
    """Cut off ``.message`` and the like, if the expression contains the choice."""
    inner = value
    while isinstance(inner, ast.Call | ast.Attribute):
        inner = inner.func if isinstance(inner, ast.Call) else inner.value
        if code.sampled.is_choice(inner):
            edit = TextEdit(end_of(inner), end_of(value), "")
            return Fix("append the Choice", (edit,))
    return None
