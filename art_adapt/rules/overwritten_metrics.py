"""Metrics are assigned as a whole after some were set, so the earlier ones are lost

``trajectory.metrics = {...}`` replaces the dict that ``track_duration``, a count in the loop or
``trajectory.metrics["turns"] = ...`` have filled. The run's plots lack them, and nothing says so.

Set each by its name, or call ``trajectory.metrics.update({...})``.

Evidence: art 0.5.18, trajectories.py:45 and 66; art 0.5.23, trajectories.py (a plain dict, whose
assignment nothing merges); measured in tests/rules/test_harm.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import dotted, entries, names_in, targets_of, text_of
from art_adapt.rules.code import Code
from art_adapt.rules.code.blocks import below
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART543", "overwritten-metrics", Severity.WASTE)
BAD = (
    """\
import art

async def rollout(model, client, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    async with trajectory.track_duration("llm"):
        response = await client.chat.completions.create(model="m", messages=messages)
    trajectory.messages_and_choices.append(response.choices[0])
    trajectory.metrics = {"length": len(messages)}  # <-
    return trajectory
""",
    """\
import art

async def rollout(model, game):
    trajectory = art.Trajectory()
    trajectory.metrics["turns"] = 0
    while not game.over:
        game.move(1)
        trajectory.metrics["turns"] += 1
    trajectory.metrics = dict(won=game.won)  # <-
    return trajectory
""",
)
GOOD = (
    """\
import art

async def rollout(model, game):
    trajectory = art.Trajectory()
    if not game.starts():
        trajectory.metrics["started"] = 0
        return trajectory
    trajectory.metrics = {"started": 1}
    trajectory.metrics["turns"] = game.turns
    trajectory.metrics = {**trajectory.metrics, "won": game.won}
    trajectory.metrics.update({"moves": game.moves})
    return trajectory
""",
    """\
import art

async def rollout(model, game):
    first = art.Trajectory()
    second = art.Trajectory()
    first.metrics["turns"] = game.turns
    second.metrics = {"turns": game.turns}
    if game.over:
        second.metrics["over"] = 1
    else:
        second.metrics = {"over": 0}
    return first
""",
    """\
import art

async def rollout(model, game):
    trajectory = art.Trajectory()
    trajectory.metrics["turns"] = game.turns
    metrics = dict(trajectory.metrics)
    metrics["won"] = game.won
    trajectory.metrics = metrics
    trajectory.metrics["won"] = 1
    trajectory.metrics = {"won": 0, "turns": 3}
    trajectory.metrics = summary(trajectory)
    trajectory = art.Trajectory()
    trajectory.metrics = {"turns": 0}
    return trajectory
""",
)


def check(code: Code) -> Iterator[Found]:
    for assigned in code.syntax.nodes:
        if not isinstance(assigned, ast.Assign):
            continue
        for target in targets_of(assigned):
            if isinstance(target, ast.Attribute) and code.trajectories.is_metrics(
                target
            ):
                lost = _lost(code, assigned, target)
                if lost is not None:
                    yield found(
                        assigned,
                        f"this replaces the metrics that were set before, at line {lost.lineno}: "
                        "use metrics.update(...)",
                    )


def _lost(code: Code, assigned: ast.Assign, target: ast.Attribute) -> ast.expr | None:
    """Return what has set one of the metrics before they are replaced, in the same block."""
    owner, value = dotted(target.value), assigned.value
    written = code.syntax.assignments.get(owner or "", ())
    function = code.syntax.owner(assigned)
    is_one = sum(where == function for where, _ in written) == 1
    if (
        not is_one
        or owner in names_in(value)
        or not isinstance(value, ast.Dict | ast.Call)
    ):
        return None  # it may be made of them
    if isinstance(value, ast.Dict) and None in value.keys:
        return None
    block = code.blocks.around(assigned)
    before = block[: block.index(assigned)] if assigned in block else []
    kept = set(entries(value))
    for node in below(before):
        for each, name in _sets(node, ast.unparse(target)):
            if name not in kept and not code.blocks.exclude(each, assigned):
                return each
    return None


def _sets(node: ast.AST, metrics: str) -> Iterator[tuple[ast.expr, str | None]]:
    """Yield a node that sets one of the metrics, and which: by its name, or as a duration."""
    match node:
        case ast.Subscript(value=holder, slice=name, ctx=ast.Store()):
            if ast.unparse(holder) == metrics:
                yield node, text_of(name)
        case ast.Call(func=ast.Attribute(value=owner, attr="track_duration")):
            if f"{dotted(owner)}.metrics" == metrics:
                yield node, None
