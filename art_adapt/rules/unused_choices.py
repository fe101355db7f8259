"""Several choices are sampled but only one is used, so the others are wasted

``n=4`` makes the engine sample four answers, and the rollout continues with the first: three
quarters of the sampling is thrown away. If all of them are put on one trajectory, ART 0.5.18
trains the second on a context that contains the first.

Run more rollouts of the scenario instead: a group is what compares answers.

Evidence: art 0.5.18, preprocessing/tokenize.py:331-480; art 0.5.23,
preprocessing/tokenize.py:716-733.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import receiver
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.calls.completion_calls import FoundCall

RULE = Rule("ART106", "unused-choices", Severity.WASTE)
BAD = (
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(model=model.name, messages=messages, n=4)  # <-
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
    """\
import art
from collections import ChainMap

DEFAULTS = {"temperature": 1.0, "n": 4}
OF_KIND = {"short": {"max_tokens": 60}}

def options(kind):
    return dict(ChainMap(OF_KIND.get(kind, {}), DEFAULTS))

async def rollout(client, model, s):
    trajectory = art.Trajectory(messages_and_choices=[s.asked])
    response = await client.chat.completions.create(
        model=model.name, messages=trajectory.messages(), **options(s.kind)  # <-
    )
    first, *_ = response.choices
    trajectory.messages_and_choices.append(first)
    return trajectory
""",
    """\
import art, os
from dataclasses import asdict, dataclass

@dataclass
class Sampling:
    temperature: float = 1.0
    n: int = int(os.getenv("SAMPLES", 4))  # <-

SAMPLING = Sampling()

async def rollout(client, model, s):
    response = await client.chat.completions.create(
        model=model.get_inference_name(), messages=[s.asked], **asdict(SAMPLING)
    )
    return art.Trajectory(messages_and_choices=[s.asked, response.choices[0]])
""",
)
GOOD = (
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(model=model.name, messages=messages, n=4)
    best = max(response.choices, key=rate)
    trajectory.messages_and_choices.append(best)
    return trajectory
""",
    """\
import art

async def rollout(client, model, s):
    trajectory = art.Trajectory(messages_and_choices=[s.asked])
    response = await client.chat.completions.create(model=model.name, messages=[s.asked], n=2)
    first, *others = response.choices
    trajectory.messages_and_choices.append(first if better(first, others) else others[0])
    return trajectory
""",
)


def check(code: Code) -> Iterator[Found]:
    for call in code.completions.of_policy:
        count = code.completions.argument(call, "n")
        if count is None or count.constant in (None, 1):
            continue
        if _in_a_row(code, call):
            yield found(
                count.at,
                "all choices are put on one trajectory one after another, so each is "
                "trained as if it followed the others: make one trajectory per choice",
            )
        elif isinstance(count.constant, int) and not _uses_others(code, call):
            yield found(
                count.at,
                f"{count.constant} choices are sampled but only one is used: run "
                f"{count.constant} rollouts",
            )


def _in_a_row(code: Code, call: FoundCall) -> bool:
    """Return whether the choices of a call are added to one list of a trajectory."""
    for each, items in code.method_calls("append", "extend"):
        if not each.args or not code.trajectories.is_items(items):
            continue
        if call.call not in code.sampled.sources(each.args[0]):
            continue
        if receiver(each, "extend"):
            if any(_is_choices(value.node) for value in code.values(each.args[0])):
                return True
            continue
        loop = code.syntax.enclosing_loop(each)
        if (
            isinstance(loop, ast.For)
            and any(_is_choices(value.node) for value in code.values(loop.iter))
            and not any(code.blocks.within(new, loop) for new in code.trajectories.new)
        ):
            return True
    return False


def _is_choices(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "choices"


def _uses_others(code: Code, call: FoundCall) -> bool:
    nodes = [*code.syntax.owned_by(code.syntax.owner(call.callee))]
    taken = {code.sampled.cut(n) for n in nodes if not _is_slice(n)}
    return any(
        isinstance(node, ast.Attribute) and node.attr == "choices" and node not in taken
        for node in nodes
    )


def _is_slice(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
