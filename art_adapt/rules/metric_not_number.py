"""A metric is not a number, so the episode counts as failed and model.log raises

ART averages metrics. Text, lists and None that are assigned after construction are not
validated: the episode is kept and also counted as an exception, and ``model.log`` raises. In
the constructor they raise at once.

Put numbers and booleans into ``metrics``, and text into ``metadata`` or ``logs``.

Evidence: art 0.5.18, gather.py (record_metrics), trajectories.py:282-290, model.py:950; art
0.5.23, gather.py:210.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import given_to
from art_adapt.rules.code import Code, Value
from art_adapt.rules.code.texts import is_asked_for_its_class, is_text, spells_text
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART306", "metric-not-number", Severity.WASTE)
BAD = (
    """\
import art

async def rollout(model, scenario):
    trajectory = art.Trajectory(metrics={"task": "maths"})  # <-
    trajectory.metrics["answer"] = f"{scenario.answer}"  # <-
    trajectory.metrics["error"] = None  # <-
    return trajectory
""",
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(model="m", messages=messages)
    trajectory.metrics["answer"] = response.choices[0].message.content  # <-
    choice = response.choices[0]
    trajectory.metrics["ended"] = choice.finish_reason  # <-
    trajectory.metrics["cut"] = choice.finish_reason == "length"
    return trajectory
""",
    """\
import art

def outcome(text: str, gold: str) -> dict:
    said = text.strip() if gold else ""
    return {"correct": said == gold, "answer": said[:40]}

async def rollout(client, model, messages, gold):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(model="m", messages=messages)
    seen = outcome(response.choices[0].message.content or "", gold)
    trajectory.metrics.update(seen)  # <-
    return trajectory
""",
    """\
import art

LABELS = ("sev1", "sev2")

def last_label(text: str) -> str | None:
    for line in reversed(text.strip().splitlines()):
        word = line.strip().lower()
        if word in LABELS:
            return word
    return None

async def rollout(client, model, messages, gold):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(model="m", messages=messages)
    predicted = last_label(response.choices[0].message.content or "")
    trajectory.metrics["correct"] = predicted == gold
    trajectory.metrics["predicted"] = predicted  # <-
    return trajectory
""",
    """\
import art, enum

class Outcome(str, enum.Enum):
    RIGHT = "right"
    WRONG = "wrong"

def closed(trajectory: art.Trajectory, outcome: Outcome):
    trajectory.metrics.update(outcome=outcome.value)  # <-
    trajectory.metrics["named"] = outcome.name  # <-
    return trajectory
""",
    """\
import art
from enum import Enum

class Outcome(str, Enum):
    WON = "won"
    LATE = "late"

async def play(trajectory: art.Trajectory, turns):
    outcome = Outcome.LATE
    async for event in turns:
        if event.outcome is not None:
            outcome = Outcome.WON
            break
    trajectory.metrics.update(turns=3, outcome=outcome.value)  # <-
    return trajectory
""",
)
GOOD = (
    """\
import art

async def rollout(model, scenario):
    trajectory = art.Trajectory(metrics={"turns": 0}, metadata={"task": "maths"})
    trajectory.metrics["won"] = True
    trajectory.metrics["score"] = scenario.score
    trajectory.metrics["begins"] = scenario.scores[:3]
    return trajectory
""",
    """\
import art, enum

class Level(enum.Enum):
    EASY = 1
    HARD = 2

def closed(trajectory: art.Trajectory, level: Level):
    trajectory.metrics.update(level=level.value)
    trajectory.metadata["level"] = level.name
    return trajectory
""",
)


def check(code: Code) -> Iterator[Found]:
    for at, value in _metrics(code):
        found_values = code.values(value)
        what = next(filter(None, map(_no_number, found_values)), "")
        texts = [v for v in found_values if code.constant(v) is not None]
        if not what and texts and all(is_text(code, each) for each in texts):
            what = "text"
        if not what and not code.is_tested(at):
            what = "None" if code.constant(value) is None else ""
        if what == "text" and is_asked_for_its_class(code, at):
            continue
        if what:
            yield found(
                at,
                f"this metric is {what}: the episode counts as failed and model.log "
                "raises; use metadata",
            )


def _metrics(code: Code) -> Iterator[tuple[ast.expr, Value]]:
    """Yield the values that trajectories get as metrics, and where to report them."""
    here = code.flow.here
    for node in code.syntax.nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Subscript) and code.trajectories.is_metrics(
                    target.value
                ):
                    yield node.value, here(node.value)
                elif code.trajectories.is_metrics(target):
                    yield from code.contents.entries(node.value)
    for call, updated in code.method_calls("update"):
        if code.trajectories.is_metrics(updated):
            named = [each.value for each in call.keywords if each.arg is not None]
            yield from ((each, here(each)) for each in named)
            for each in given_to(call):
                if each not in named:
                    yield from code.contents.entries(each)
    for call in code.trajectories.new:
        if (metrics := code.contents.given(call, "metrics")) is not None:
            yield from code.contents.entries(metrics)


def _no_number(value: Value) -> str:
    if spells_text(value.node):
        return "text"
    is_container = isinstance(value.node, ast.List | ast.Dict | ast.Set)
    return "a container" if is_container else ""
