"""A reward is divided by how many things the model named, which may be none

``len(found) / len(named)`` raises a ZeroDivisionError for a reply that names nothing. The episode
counts as failed and leaves its group, so the policy is never told that such a reply is bad. Without
``max_exceptions`` the run ends.

Divide by ``max(1, len(named))``, or score such a reply 0.

Evidence: art 0.5.18 and 0.5.23, gather.py (an episode that raises is left out of its group).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import argument_of, given_to, receiver
from art_adapt.rules.code import Code, Value
from art_adapt.rules.code.rewards import KEEPING, computed
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART320", "division-by-none", Severity.WASTE)
ROLLOUT = """\
import art

def names(text):
    return [line[2:] for line in text.splitlines() if line.startswith("- ")]

def precision(said, wanted):
    return len(set(said) & set(wanted)) / len(said)  # <-

async def rollout(model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": scenario.text}])
    response = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(response.choices[0])
    said = names(response.choices[0].message.content or "")
    trajectory.reward = 0.9 * precision(said, scenario.people) + 0.1
    return trajectory
"""
RECORD = """\
import art
from dataclasses import dataclass

@dataclass
class Scored:
    said: list[str]
    wanted: list[str]

    @property
    def reward(self):
        return round(sum(each in self.wanted for each in self.said) / len(self.said), 2)  # <-

async def rollout(model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": scenario.text}])
    response = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(response.choices[0])
    said = (response.choices[0].message.content or "").split()
    trajectory.reward = Scored(said, scenario.people).reward
    return trajectory
"""
BAD = (ROLLOUT, RECORD)
GOOD = (
    ROLLOUT.replace("len(said)  # <-", "max(1, len(said))"),
    ROLLOUT.replace(
        "    return len(set(said)",
        "    if not said:\n        return 0.0\n    return len(set(said)",
    ).replace("  # <-", ""),
    ROLLOUT.replace("len(said)  # <-", "len(wanted)"),
    ROLLOUT.replace("len(said)  # <-", "len(said) if said else 0.0"),
    ROLLOUT.replace(
        "    trajectory.reward = 0.9",
        "    if not said:\n        return trajectory\n    trajectory.reward = 0.9",
    ).replace("  # <-", ""),
    ROLLOUT.replace('" ")]', '" ")] or [""]')
    .replace('"- ")]', '"- ")] or [""]')
    .replace("  # <-", ""),
    RECORD.replace(
        "/ len(self.said), 2)  # <-", "/ len(self.said), 2) if self.said else 0.0"
    ),
)


def check(code: Code) -> Iterator[Found]:
    said = set()
    for write in code.rewards.writes:
        if code.is_caught(write.node):
            continue
        for value in code.values(write.value):
            for each in computed(code, value, (*KEEPING, "min", "max", "sum")):
                node = each.node
                if (
                    isinstance(node, ast.BinOp)
                    and isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod)
                    and node not in said
                    and _may_be_none(code, each.of(node.right))
                ):
                    said.add(node)
                    yield found(
                        node if each.syntax is code.syntax else write.value,
                        "the model may name nothing: this raises a ZeroDivisionError and the episode "
                        "leaves its group; divide by max(1, ...), or score it 0",
                    )


def _may_be_none(code: Code, divisor: Value) -> bool:
    """Return whether it is the length of a list that the reply may leave empty, unasked."""
    match divisor.node:
        case ast.Call(func=ast.Name("len"), args=[counted]):
            lists = code.values(divisor.of(counted))
            return (
                bool(lists)
                and all(_may_be_empty(each.node) for each in lists)
                and all(code.sampled.behind(each) for each in lists)
                and not _is_asked(code, divisor.of(counted))
            )
    return False


def _may_be_empty(made: ast.expr) -> bool:
    """Return whether an expression makes a list that has nothing for an empty text."""
    if isinstance(made, ast.ListComp | ast.SetComp):
        only = made.generators[0]
        return len(made.generators) == 1 and (
            bool(only.ifs) or _may_be_empty(only.iter)
        )
    return receiver(made, "splitlines", "findall") is not None or (
        isinstance(made, ast.Call)
        and receiver(made, "split") is not None
        and not given_to(made)
    )


def _is_asked(code: Code, counted: Value) -> bool:
    """Return whether a function that a list comes through asks whether it is empty."""
    node, frame = counted.node, counted.place.frame
    if counted.syntax is not code.syntax or code.is_tested(node):
        return True
    if frame is None:
        return False
    outer: list[Value | None] = []
    if isinstance(node, ast.Name):
        given = argument_of(frame.call, node.id, frame.function.positional)
        outer = [None if given is None else Value(given, frame.outer)]
    elif isinstance(node, ast.Attribute) and isinstance(frame.call.func, ast.Attribute):
        owners = code.values(Value(frame.call.func.value, frame.outer))
        outer = [code.flow.records.field_of(each, node.attr) for each in owners]
    return any(each is not None and _is_asked(code, each) for each in outer)
