"""An assistant turn is rebuilt as a dict, so it has no tokens and is not trained

``{"role": "assistant", "content": ...}`` made from the model's text looks the same in every
log, but has no tokens and no logprobs: the turn is context and is not trained. A trajectory
without any Choice is silently dropped, but its reward still shifts the mean that the others
are compared with.

Append ``response.choices[0]``. Dicts are for messages that the model did not write (few-shot
examples, the user, tools).

Evidence: art 0.5.18, preprocessing/tokenize.py:247-250 and 345-346; art 0.5.23,
preprocessing/tokenize.py:762-772 and 926.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

from art_adapt.code.nodes import attribute_of, first_argument, given_to, keyword
from art_adapt.rules.code import Code, Kind, Put, Value
from art_adapt.rules.code.values import constant
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART202", "rebuilt-assistant-message", Severity.GARBAGE)
MADE_UP = """\
import art
from openai.types.chat.chat_completion import Choice

async def rollout(client, model):
    items = [{"role": "user", "content": "Hi"}]
    response = await client.chat.completions.create(model="m", messages=items)
    text = response.choices[0].message.content
    items.append({"role": "assistant", "content": text})  # <-
    trajectory = art.Trajectory(messages_and_choices=items)
    message = {"role": "assistant", "content": "Bye"}
    trajectory.messages_and_choices.append(
        Choice(finish_reason="stop", index=0, message=message)  # <-
    )
    return trajectory
"""
BAD = (
    """\
import art

async def rollout(client, model):
    trajectory = art.Trajectory()
    response = await client.chat.completions.create(model="m", messages=[])
    answer = response.choices[0].message.content
    trajectory.messages_and_choices.append({"role": "assistant", "content": answer})  # <-
    return trajectory
""",
    """\
import art

async def rollout(client, model):
    response = await client.chat.completions.create(model="m", messages=[])
    content = response.choices[0].message.content or ""
    return art.Trajectory(
        messages_and_choices=[
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": content.strip()},  # <-
        ]
    )
""",
    MADE_UP,
    MADE_UP.replace("openai.types.chat.chat_completion", "art.types"),
    """\
import art
from art.rewards import ruler_score_group
from openai.types.chat.chat_completion import Choice

def told(joke):
    said = {"role": "assistant", "content": joke}
    choice = Choice(finish_reason="stop", index=0, message=said)
    messages = [{"role": "user", "content": "A joke!"}, choice]  # <-
    return art.Trajectory(messages_and_choices=messages)

async def send(queue):
    judged = await ruler_score_group(art.TrajectoryGroup([told("a"), told("b")]), "openai/o3")
    await queue.put(judged)
""",
    """\
import art

async def warm_up(model, rows):
    taught = [art.Trajectory(messages_and_choices=[r.asked, {"role": "assistant", "content": r.said}]) for r in rows]
    await model.train_sft(taught)

async def rollout(model, scenario):
    messages = [{"role": "user", "content": scenario.text}]
    response = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=messages
    )
    text = response.choices[0].message.content or ""
    messages.append({"role": "assistant", "content": text})  # <-
    return art.Trajectory(messages_and_choices=messages, reward=scenario.grade(text))

async def step(model, backend, scenarios):
    groups = await art.gather_trajectory_groups(
        (art.TrajectoryGroup(rollout(model, s) for _ in range(8)) for s in scenarios), max_exceptions=8
    )
    await backend.train(model, groups)
""",
    """\
import art
from openai.types.chat.chat_completion import Choice

def slim(choice):
    return Choice.model_validate({**choice.model_dump(exclude={"logprobs"}), "logprobs": None})

async def rollout(client, model, s):
    trajectory = art.Trajectory(messages_and_choices=[s.asked])
    response = await client.chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(slim(response.choices[0]))  # <-
    return trajectory
""",
)
GOOD = (
    """\
import art

async def rollout(client, model):
    trajectory = art.Trajectory(
        messages_and_choices=[
            {"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}
        ]
    )
    response = await client.chat.completions.create(model="m", messages=[])
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
    """\
import art

async def teach(teacher, model, prompt):
    response = await teacher.chat.completions.create(model="big", messages=[prompt])
    text = response.choices[0].message.content
    taught = art.Trajectory(
        messages_and_choices=[prompt, {"role": "assistant", "content": text}]
    )
    await model.train_sft([taught])
""",
    """\
import art, asyncio
from art.rewards import ruler_score_group
from openai.types.chat import ChatCompletionMessage
from openai.types.chat.chat_completion import Choice

def told(joke):
    said = ChatCompletionMessage(role="assistant", content=joke)
    choice = Choice(finish_reason="stop", index=0, message=said)
    return art.Trajectory(messages_and_choices=[{"role": "user", "content": "A joke!"}, choice])

async def main():
    judged = await ruler_score_group(art.TrajectoryGroup([told("a"), told("b")]), "openai/o3")
    for trajectory in judged:
        print(trajectory.reward)

asyncio.run(main())
""",
)


def check(code: Code) -> Iterator[Found]:
    supervised = "train_sft" in code.source.text
    if supervised and not any(code.art_calls("gather_trajectory_groups")):
        return  # supervised training uses a teacher's text as it is
    if _only_judges(code):
        return
    recorded = {
        call
        for put in code.trajectories.puts
        if code.sampled.is_choice(put.value)
        for call in code.sampled.sources(put.value)
    }
    # Of a file that trains both ways, the turns that the model in training certainly said.
    own = {c.call for c in code.completions.of_policy if code.completions.is_arts(c)}

    def is_own(content: Value) -> bool:
        return not supervised or code.sampled.sources(content) <= own

    for put in code.trajectories.puts:
        if _is_for_another_model(code, put):
            continue
        contents = _assistant_contents(code, put)
        if any(_is_sampled_text(code, e, recorded) and is_own(e) for e in contents):
            yield found(
                put.at,
                "an assistant turn rebuilt as a dict has no tokens, so it is not "
                "trained; append the Choice",
            )
        elif any(_is_made_up(code, value) for value in code.values(put.value)):
            yield found(
                put.at,
                "a Choice built by hand has no logprobs, so it is not trained; append the "
                "Choice that was sampled",
            )


def _only_judges(code: Code) -> bool:
    """Return whether a script hands all of its groups to RULER, and trains on none."""
    groups = set(code.art_calls("TrajectoryGroup"))
    gathers = any(code.art_calls("gather_trajectory_groups", "gather_trajectories"))
    handed_out = gathers or any(code.training.calls) or code.importers
    return (
        bool(groups)
        and not handed_out
        and groups <= code.training.judged
        and not any(map(code.training.judged.__contains__, _handed_on(code)))
    )


def _handed_on(code: Code) -> Iterator[ast.AST]:
    """Yield the groups that something awaited gets after RULER, such as a queue."""
    judges = set(code.art_calls("ruler_score_group"))
    for call in code.calls:
        if call not in judges and isinstance(code.syntax.parents[call], ast.Await):
            yield from code.training.made_as(given_to(call))


def _is_for_another_model(code: Code, put: Put) -> bool:
    """Return whether it is a dict, in the branch of a model that is not trained."""
    return isinstance(put.value.node, ast.Dict) and code.sampled.is_for_another_model(
        put.by
    )


def _is_sampled_text(
    code: Code, content: Value, recorded: Container[ast.AST | None]
) -> bool:
    """Return whether it is what the policy said, in a completion whose Choice is nowhere put."""
    if code.sampled.by_another_model(content):
        return False
    behind = code.sampled.behind(content)
    return code.sampled.kind(content) in (Kind.TEXT, Kind.MESSAGE) or (
        bool(behind)
        and _are_of_policy(code, behind)
        and not any(call in recorded for call in behind)
    )


def _assistant_contents(code: Code, put: Put) -> list[Value]:
    """Return what the content of a message may be that is certainly an assistant's."""
    for value in code.values(put.value):
        roles = {_role(code, e) for e in code.contents.item(value, "role").values}
        content = code.contents.item(value, "content").values
        if roles == {"assistant"} and content:
            return [each for each in content if code.constant(each) != ""]
    return []


def _role(code: Code, role: Value) -> object:
    """Return a role that is a constant; that of a sampled message is the assistant's."""
    read = attribute_of(role.node)
    if read is not None and read[1] == "role":
        is_sampled = code.sampled.kind(role.of(read[0])) is Kind.MESSAGE
        return "assistant" if is_sampled else code.constant(role)
    return code.constant(role)


def _are_of_policy(code: Code, calls: frozenset[ast.Call]) -> bool:
    known = code.completions.by_call
    return all(code.completions.may_be_trained(known[call]) for call in calls)


def _is_made_up(code: Code, value: Value) -> bool:
    """Return whether it is a ``Choice(...)`` without logprobs."""
    made = value.node
    if not isinstance(made, ast.Call):
        return False
    name = value.syntax.qualified(made.func) or ""
    fields = first_argument(made, "obj") or keyword(made, "update")
    if name.endswith((".Choice.model_validate", ".Choice.model_construct")) and fields:
        rest = code.contents.item(value.of(fields), "logprobs").values
        return bool(rest) and all(constant(each) is None for each in rest)
    return (
        name.startswith(("openai.", "art."))
        and name.endswith(".Choice")
        and all(argument.arg for argument in made.keywords)
        and code.constant(keyword(made, "logprobs") or ast.Constant(None)) is None
    )
