"""The policy is sampled at temperature 0, so rollouts are alike and nothing is learned

At temperature 0 all rollouts of a group give the same answer, get the same reward and have no
advantage. Where they do differ, the logprobs that the engine reports are not those of how it
sampled.

Sample at temperature 1 while training.

Evidence: art 0.5.18, preprocessing/tokenize.py:254-258; art 0.5.23,
preprocessing/tokenize.py:762-779 (groups without variance are dropped); measured in
tests/rehearsal/test_rehearse.py, temperature 0.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import keyword
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART401", "zero-temperature", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(
        model=model.get_inference_name(), messages=messages, temperature=0  # <-
    )
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
    """\
import art

BASE = {"top_p": 1.0}
MODES = {"train": {**BASE, "temperature": 0.0}, "test": {**BASE, "temperature": 0.0}}

class Writer:
    def __init__(self, model, mode):
        self.model, self.options = model, MODES[mode]

    async def run(self, s):
        trajectory = art.Trajectory(messages_and_choices=[s.asked])
        response = await self.model.openai_client().chat.completions.create(
            model=self.model.get_inference_name(), messages=trajectory.messages(), **self.options  # <-
        )
        trajectory.messages_and_choices.append(response.choices[0])
        return trajectory
""",
)
GOOD = (
    """\
import art, asyncio

async def sampled(model, problem):
    prompt = [{"role": "user", "content": problem}]
    reply = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=prompt, n=8
    )
    return art.TrajectoryGroup(
        [art.Trajectory(messages_and_choices=[*prompt, c], reward=1.0) for c in reply.choices]
    )

async def validate(model, problems):
    async def one(problem):
        prompt = [{"role": "user", "content": problem}]
        reply = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=prompt, temperature=0
        )
        return art.Trajectory(messages_and_choices=[*prompt, reply.choices[0]], reward=1.0)

    return await asyncio.gather(*map(one, problems))

async def main(model, backend, problems):
    groups = await art.gather_trajectory_groups([sampled(model, p) for p in problems])
    await backend.train(model, groups)
    await model.log(await validate(model, problems), split="val")
""",
    """\
import art

async def rollout(client, judge, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(
        model=model.get_inference_name(), messages=messages, temperature=1.0
    )
    trajectory.messages_and_choices.append(response.choices[0])
    verdict = await judge.chat.completions.create(model="gpt-4o", messages=messages, temperature=0)
    return trajectory
""",
    """\
import art

BASE = "Qwen/Qwen3-4B"
model = art.TrainableModel(name="m", run_name="m", project="p", base_model=BASE)

async def matches(client, answer):
    asked = [{"role": "user", "content": answer}]
    return await client.chat.completions.create(model=BASE, messages=asked, temperature=0)

async def rollout(client, name, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(model=name, messages=messages)
    trajectory.messages_and_choices.append(response.choices[0])
    trajectory.reward = float("yes" in str(await matches(client, str(response))))
    return trajectory
""",
    """\
from art_recording import recorded

def ask(client, messages):
    return recorded(client.chat.completions.create)(model="m", messages=messages, temperature=0)
""",
    """\
import art

async def validate(model, rows, step):
    async def greedy(row):
        completion = await model.openai_client().chat.completions.create(
            model="m", messages=row.messages, temperature=0
        )
        return art.Trajectory(messages_and_choices=[*row.messages, completion.choices[0]], reward=1)

    groups = await art.gather_trajectory_groups(art.TrajectoryGroup([greedy(r)]) for r in rows)
    await model.log(groups, split="val", step=step)
""",
    """\
import art

MODES = {"train": {"temperature": 1.0}, "test": {"temperature": 0.0}}

class Writer:
    def __init__(self, model, mode):
        self.model, self.options = model, MODES[mode]

    async def run(self, s):
        trajectory = art.Trajectory(messages_and_choices=[s.asked])
        response = await self.model.openai_client().chat.completions.create(
            model=self.model.get_inference_name(), messages=trajectory.messages(), **self.options
        )
        trajectory.messages_and_choices.append(response.choices[0])
        return trajectory
""",
)


def check(code: Code) -> Iterator[Found]:
    if code.only_evaluates:
        return
    for asked, given in code.completions.sampling("temperature"):
        value = given.constant
        is_low = isinstance(value, int | float) and value < 0.05
        if (
            is_low
            and not _asks_the_base_model(code, asked)
            and not _is_for_validation(code, asked)
            and code.training.may_come_from(asked)
        ):
            yield found(
                given.at,
                "at temperature 0 the rollouts of a group are alike: the group has no "
                "variance and nothing is learned",
            )


def _is_for_validation(code: Code, given: ast.expr) -> bool:
    """Return whether the episodes of a request are logged under another split, and never trained."""
    around = (
        code.syntax.owner(given),
        *code.syntax.functions_around(code.syntax.owner(given)),
    )
    if any(_only_logs_others(code, name) for name in around):
        return True
    calls = code.callers(given)
    return bool(calls) and all(
        _only_logs_others(code, code.syntax.owner(call)) for call in calls
    )


def _only_logs_others(code: Code, function: str) -> bool:
    """Return whether a function logs groups of another split, gives nothing back and trains nothing."""
    nodes = set(code.syntax.owned_by(function))
    splits = {
        code.constant(keyword(call, "split"))
        for call, _ in code.method_calls("log")
        if call in nodes
    }
    return (
        bool(splits)
        and all(isinstance(each, str) and each != "train" for each in splits)
        and nodes.isdisjoint(code.training.calls)
        and not any(isinstance(node, ast.Return) and node.value for node in nodes)
    )


def _asks_the_base_model(code: Code, given: ast.expr) -> bool:
    """Return whether a request is the model's that training begins with, and no turn of an episode.

    The policy has another name, and its Choice is recorded.
    """
    asking = (c for c in code.syntax.ancestors(given) if c in code.completions.by_call)
    call = next(asking, None)
    if not isinstance(call, ast.Call):
        return False
    models = list(code.art_calls("TrainableModel"))
    base, own = (
        {code.constant(keyword(model, name)) for model in models} - {...}
        for name in ("base_model", "name")
    )
    recorded = (
        source
        for put in code.trajectories.puts
        for source in code.sampled.sources(put.value)
    )
    names = code.completions.models(code.completions.by_call[call])
    return names <= base - own and call not in recorded
