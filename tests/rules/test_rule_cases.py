"""Check every rule against its cases.

A rule finds what its bad cases mark and nothing in its good cases, and its fix turns the first
bad case into ``FIXED``.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from art_adapt.check.fixes import apply_fixes
from art_adapt.rules import rules
from art_adapt.rules.code import Code
from art_adapt.rules.rule import RuleModule
from art_adapt.source import Source

EVERY = rules()
IDS = [rule.rule.code for rule in EVERY]


def code_of(text: str) -> Code:
    return Code(Source(Path("case.py"), text.encode()))


def marked(text: str) -> list[int]:
    lines = text.splitlines()
    return [number for number, line in enumerate(lines, 1) if line.endswith("# <-")]


@pytest.mark.parametrize("rule", EVERY, ids=IDS)
def test_bad_cases_are_found_where_they_are_marked(rule: RuleModule) -> None:
    assert rule.bad
    for case in rule.bad:
        lines = sorted({found.line for found in rule.check(code_of(case))})
        assert marked(case), "this bad case marks no line"
        assert lines == marked(case), case


@pytest.mark.parametrize("rule", EVERY, ids=IDS)
def test_good_cases_are_left_alone(rule: RuleModule) -> None:
    assert rule.good
    for case in rule.good:
        assert not list(rule.check(code_of(case))), case


@pytest.mark.parametrize("rule", EVERY, ids=IDS)
def test_good_cases_are_good_by_every_rule_of_its_kind(rule: RuleModule) -> None:
    """No rule of the worst severity may report what another rule recommends."""
    for case in rule.good:
        for other in EVERY:
            if other.rule.code[:4] == rule.rule.code[:4] and other.rule.severity == 0:
                assert not list(other.check(code_of(case))), (other.rule, case)


@pytest.mark.parametrize(
    "rule", [r for r in EVERY if r.fixed], ids=[r.rule.code for r in EVERY if r.fixed]
)
def test_fixes_do_what_they_say(rule: RuleModule) -> None:
    before = rule.bad[0]
    fixes = [found.fix for found in rule.check(code_of(before)) if found.fix]
    after = apply_fixes(before.encode(), fixes).decode()
    assert after == rule.fixed
    ast.parse(after)
    assert not [found for found in rule.check(code_of(after)) if found.fix]


def test_codes_names_and_documentation() -> None:
    codes, names = [r.rule.code for r in EVERY], [r.rule.name for r in EVERY]
    assert len(set(codes)) == len(codes) and len(set(names)) == len(names)
    for rule in EVERY:
        assert "Evidence:" in rule.documentation
        assert rule.summary and not rule.summary.endswith(".")


RIGHT = {
    "a win or an early return": """\
import art

async def rollout(game):
    t = art.Trajectory()
    if not game.won:
        return t
    t.reward = 1.0
    return t

async def train(backend, model, games):
    groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(g) for _ in range(4)) for g in games
    )
    await backend.train(model, groups)
""",
    "a trajectory of its own for each turn of a loop": """\
import art

async def rollouts(client, model, scenarios):
    for scenario in scenarios:
        t = art.Trajectory()
        t.messages_and_choices.insert(0, {"role": "system", "content": scenario})
        r = await client.chat.completions.create(model=model.get_inference_name(), messages=t.messages())
        t.messages_and_choices.append(r.choices[0])
        yield t
""",
    "another model's turns in a log": """\
import art

async def rollout(sim, log, messages):
    trajectory = art.Trajectory()
    user = await sim.chat.completions.create(model="gpt-4o", messages=messages)
    trajectory.messages_and_choices.append(user.choices[0].message.model_dump())
    user.choices[0].message.content = user.choices[0].message.content.strip()
    return trajectory
""",
    "a judge that is asked at temperature 0": """\
import art

async def rollout(client, judge, model, messages):
    t = art.Trajectory(messages_and_choices=messages)
    r = await client.chat.completions.create(model=model.get_inference_name(), messages=messages)
    t.messages_and_choices.append(r.choices[0])
    verdict = await judge.chat.completions.create(
        model="qwen/qwen3-32b", messages=messages, temperature=0, seed=1, tools=[SCORE]
    )
    t.reward = float(verdict.choices[0].message.content)
    return t
""",
    "a grader that fails": """\
import art

async def rollout(client, model, messages):
    t = art.Trajectory(messages_and_choices=messages)
    r = await client.chat.completions.create(model=model.get_inference_name(), messages=messages)
    t.messages_and_choices.append(r.choices[0])
    try:
        t.reward = (await run_tests(r.choices[0].message.content)).score
    except Exception:
        t.reward = 0.0
    return t
""",
    "rewards of something else": """\
import art

def simulate():
    trajectory = EnvironmentRun()
    trajectory.metrics["name"] = "x"
    trajectory.reward = None
    trajectories = Batch()
    trajectories.reward = "x"
""",
    "validation first, then training, by one name": """\
import art

async def step(model, backend, scenarios):
    groups = await art.gather_trajectory_groups(
        [art.TrajectoryGroup([rollout(model, s)]) for s in scenarios], max_exceptions=9
    )
    await model.log(groups, split="val")
    groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(model, t) for t in tasks) for tasks in ([s] * 8 for s in scenarios)
    )
    await backend.train(model, groups)
""",
    "a penalty that is returned": """\
import art

async def rollout(game):
    t = art.Trajectory()
    failed = False
    while not game.over:
        if not game.move():
            t.reward = -1
            failed = True
            break
    if failed:
        return t
    t.reward = game.score
    return t
""",
    "what blocks in a thread": """\
import art, asyncio, time

async def rollout(model):
    await asyncio.to_thread(lambda: time.sleep(1))
    return art.Trajectory()
""",
    "a torch model beside": """\
import art, torch

async def fit(reward_model, data):
    for epoch in range(10):
        reward_model.train(data)
""",
    "an art that is not OpenPipe's": """\
from art import text2art
import art

print(text2art("hi"), art.api)
""",
}


@pytest.mark.parametrize("case", RIGHT.values(), ids=RIGHT)
def test_right_code_is_right(case: str) -> None:
    found = [
        (rule.rule.code, each.line, each.message)
        for rule in EVERY
        if rule.rule.severity != 2
        for each in rule.check(code_of(case))
    ]
    assert not found


def test_slices_of_slices_are_asked_once() -> None:
    """Each is one of two parts of the one before: sixteen million ways lead to the first."""
    chain = "\n".join(
        f"    x{at} = x{at - 1}[:1] if messages else x{at - 1}[1:]"
        for at in range(1, 25)
    )
    source = f"""\
import art

async def rollout(client, messages):
    response = await client.chat.completions.create(model="m", messages=messages)
    x0 = response.choices[0].message.content
{chain}
    y = x24[:4]
    for _ in messages:
        y, z = z[:4], y[:4]
    items = [*messages, response.choices[0]]
    return art.Trajectory(messages_and_choices=items, reward=1.0, metrics={{"said": x24}})
"""
    code = code_of(source)
    found = [rule.rule.code for rule in EVERY for _ in rule.check(code)]
    assert "ART306" in found and "ART000" not in found
