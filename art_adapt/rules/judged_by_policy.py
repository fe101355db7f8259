"""The model in training judges its own episodes, so it learns to praise itself

RULER asks its judge for the rewards. If the judge is the model in training, each step moves the
judge as well: what is rewarded is what the policy already likes.

Name another model as ``judge_model``, which stays the same for the whole run.

Evidence: art 0.5.18 and 0.5.23, rewards/ruler.py (the judge's scores become the rewards);
measured in tests/rehearsal (the finding "judge").
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import (
    argument_of,
    attribute_of,
    given_to,
    last_name,
    receiver,
)
from art_adapt.rules.code import Code, Value
from art_adapt.rules.code.annotated import annotation
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART319", "judged-by-policy", Severity.GARBAGE)
BAD = (
    """\
import art
from art.rewards import ruler_score_group

async def rank(model: art.TrainableModel, group):
    return await ruler_score_group(
        group,
        f"hosted_vllm/{model.get_inference_name()}",  # <-
        extra_litellm_params={"base_url": model.inference_base_url},
    )
""",
    """\
import art
from art.rewards import ruler

async def main(lists):
    model = art.TrainableModel(name="m", project="p", base_model="b")
    judge = model.inference_model_name
    return await ruler(lists, judge_model=judge)  # <-
""",
    """\
from functools import partial

import art
from art.rewards import ruler_score_group

def judge_of(model: art.TrainableModel):
    params = model.litellm_completion_params()
    name = params.pop("model")
    return partial(ruler_score_group, judge_model=name, extra_litellm_params=params)  # <-

async def rank(model: art.TrainableModel, group):
    params = model.litellm_completion_params()
    return await ruler_score_group(group, params["model"], extra_litellm_params=params)  # <-
""",
    """\
import art

async def rate(model: art.TrainableModel, joke):
    verdict = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(),  # <-
        messages=[{"role": "user", "content": f"Rate this from 0 to 9: {joke}"}],
    )
    return float(verdict.choices[0].message.content or 0)

async def rollout(model: art.TrainableModel, topic):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": topic}])
    answer = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(answer.choices[0])
    trajectory.reward = await rate(model, answer.choices[0].message.content)
    return trajectory
""",
    """\
import art

class Replies:
    def __init__(self, model: art.TrainableModel):
        self.model = model
        self.client = model.openai_client()

    async def grade(self, review, reply) -> float:
        response = await self.client.chat.completions.create(
            model=self.model.get_inference_name(),  # <-
            messages=[{"role": "user", "content": f"Rate from 0 to 10: {review} {reply}"}],
        )
        return float(response.choices[0].message.content or 0)

    async def rollout(self, item):
        messages: art.Messages = [{"role": "user", "content": item["review"]}]
        completion = await self.client.chat.completions.create(
            model=self.model.get_inference_name(), messages=messages
        )
        choice = completion.choices[0]
        reply = choice.message.content or ""
        reward = await self.grade(item["review"], reply) - (0.3 if len(reply) > 80 else 0.0)
        return art.Trajectory(messages_and_choices=[*messages, choice], reward=reward)

async def main(model: art.TrainableModel, backend, items):
    agent = Replies(model)
    for item in items:
        group = art.TrajectoryGroup(agent.rollout(item) for _ in range(8))
        await backend.train(model, await art.gather_trajectory_groups([group]))
""",
)
GOOD = (
    """\
import art

async def rate(judge, joke):
    verdict = await judge.chat.completions.create(
        model="gpt-5", messages=[{"role": "user", "content": joke}]
    )
    return float(verdict.choices[0].message.content or 0)

async def rollout(model: art.TrainableModel, judge, topic):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": topic}])
    answer = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(answer.choices[0])
    trajectory.reward = await rate(judge, answer.choices[0].message.content)
    return trajectory
""",
    """\
import art
from art.rewards import ruler_score_group

JUDGE = "openai/o3"

async def rank(model: art.TrainableModel, judge: art.Model, group):
    await ruler_score_group(group, JUDGE)
    await ruler_score_group(group, f"hosted_vllm/{judge.get_inference_name()}")
    large = art.Model(name="large", project="p", inference_model_name="o3")
    params = judge.litellm_completion_params()
    await ruler_score_group(group, params.pop("model"), extra_litellm_params=params)
    return await ruler_score_group(group, judge_model=large.get_inference_name())
""",
)
SELF = "the model in training is its own judge, so it learns to praise itself; name another model"
JUDGES = ("ruler", "ruler_score_group")
NAMES = ("inference_model_name", "name")


def check(code: Code) -> Iterator[Found]:
    for call in code.calls:
        is_partial = last_name(call.func) == "partial" and bool(call.args)
        judging = call.args[0] if is_partial else call.func
        if (code.art_name(judging) or "").rpartition(".")[2] not in JUDGES:
            continue
        positional = () if is_partial else ("group", "judge_model")
        judge = argument_of(call, "judge_model", positional)
        if judge is not None and all(_is_policy(code, e) for e in code.values(judge)):
            yield found(
                judge,
                SELF,
            )
    for write in code.rewards.writes:
        for model in _judging(code, write.value):
            yield found(model, SELF)


def _judging(code: Code, reward: ast.expr) -> Iterator[ast.expr]:
    """Yield what asks the model in training for a reward, in a function that records nothing."""
    made = [reward, *(v.node for v in code.values(reward) if v.syntax is code.syntax)]
    for call in dict.fromkeys(node for each in made for node in ast.walk(each)):
        body = code.entered(call) if isinstance(call, ast.Call) else None
        if body is None or body.place.syntax is not code.syntax:
            continue
        assert isinstance(call, ast.Call)
        if not any(code.sampled.sources(each) - {None} for each in given_to(call)):
            continue  # it is told no answer
        owner = body.function.qualname
        if any(code.syntax.owner(put.by) == owner for put in code.trajectories.puts):
            continue  # it is an episode, or a part of one
        for asked in code.completions.calls:
            if asked.call is None or code.syntax.owner(asked.callee) != owner:
                continue
            if (model := code.contents.given(asked.call, "model")) is not None:
                values = code.values(model)
                if values and all(_is_policy(code, each) for each in values):
                    yield model


def _taken_from(node: ast.AST) -> ast.expr | None:
    """Return the parameters of which an expression is the model: ``params.pop("model")``."""
    match node:
        case ast.Subscript(value=parameters, slice=ast.Constant("model")):
            return parameters
        case ast.Call(
            func=ast.Attribute(attr="pop" | "get", value=parameters),
            args=[ast.Constant("model"), *_],
        ):
            return parameters
    return None


def _is_policy(code: Code, name: Value) -> bool:
    """Return whether a name is that of the model in training."""
    node = name.node
    if isinstance(node, ast.JoinedStr) and node.values:
        last = node.values[-1]
        if not isinstance(last, ast.FormattedValue):
            return False
        return all(_is_policy(code, each) for each in code.values(name.of(last.value)))
    model = receiver(node, "get_inference_name")
    parameters = _taken_from(node)
    if parameters is not None:
        made = [value.node for value in code.values(name.of(parameters))]
        model = receiver(made[0], "litellm_completion_params") if made else None
    elif isinstance(node, ast.Call) and (node.args or node.keywords):
        return False  # of a step, which stays the same
    if model is None and (read := attribute_of(node)) and read[1] in NAMES:
        model = read[0]
    if model is None:
        return False
    # An object keeps it under its own name: self.model.
    trained = {last_name(e) for call in code.training.calls for e in given_to(call)}
    if trained and last_name(model) not in trained:
        return False
    annotated = annotation(code.flow, name.of(model)).strip("'\"")
    return annotated.endswith("TrainableModel") or code.models.is_trainable(
        name.of(model)
    )
