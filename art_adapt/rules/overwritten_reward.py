"""A reward that is set in a loop is overwritten after it, so it is never trained on

The loop sets a penalty and breaks (an invalid move, a tool that does not exist); after the
loop the reward is set again, whatever happened. The penalty is lost, and the model never
learns to avoid its cause.

Return where the penalty is set, or set the final reward only if the loop ended normally.

Evidence: the order in which Python runs the statements. ART's own 2048 example does this with
the -1 for an invalid move.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code, RewardWrite
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART310", "overwritten-reward", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(model, game):
    trajectory = art.Trajectory()
    while not game.over:
        try:
            game.move(1)
        except ValueError:
            trajectory.reward = -1  # <-
            break
    trajectory.reward = game.score
    return trajectory
""",
    """\
import art

async def rollout(model, game):
    trajectory = art.Trajectory()
    while True:
        if not game.allows(1):
            trajectory.reward = -1  # <-
            break
        game.move(1)
    if game.won:
        trajectory.reward = 1
    else:
        trajectory.reward = 0
    return trajectory
""",
)
GOOD = (
    BAD[0]
    .replace("  # <-", "")
    .replace("            break", "            return trajectory"),
    BAD[0]
    .replace("  # <-", "")
    .replace(
        "    trajectory.reward = g",
        "    if not trajectory.reward:\n        trajectory.reward = g",
    ),
    BAD[0].replace("  # <-", "").replace("reward = game", "reward += game"),
)


def check(code: Code) -> Iterator[Found]:
    for write in code.rewards.writes:
        loop = _ends_loop(code, write)
        if loop is None:
            continue
        after = code.blocks.after(loop)
        target = _target(write)
        for statement in after:
            if target is not None and _overwrites(code, statement, target):
                yield found(
                    write.node,
                    f"this reward is always overwritten at line {statement.lineno}, so it is "
                    "never trained on",
                )
                break
            if any(isinstance(n, LEAVING) for n in ast.walk(statement)):
                break  # it may leave because of this reward


LEAVING = (ast.Return, ast.Break, ast.Continue)


def _overwrites(code: Code, statement: ast.stmt, target: str) -> bool:
    """Return whether every path through ``statement`` sets the reward again."""
    if isinstance(statement, ast.If):
        if _reads(statement.test, target) or not statement.orelse:
            return False
        return all(
            any(_overwrites(code, each, target) for each in branch)
            for branch in (statement.body, statement.orelse)
        )
    return any(
        write.node is statement
        and _target(write) == target
        and not isinstance(statement, ast.AugAssign)
        and not _reads(write.value, target)
        for write in code.rewards.writes
    )


def _ends_loop(code: Code, write: RewardWrite) -> ast.stmt | None:
    """Return the loop that a break leaves after the write."""
    if isinstance(write.node, ast.Call):
        return None
    if not any(isinstance(each, ast.Break) for each in code.blocks.after(write.node)):
        return None
    return code.syntax.enclosing_loop(write.node)


def _target(write: RewardWrite) -> str | None:
    return None if write.target is None else ast.unparse(write.target)


def _reads(value: ast.expr, target: str) -> bool:
    return any(
        isinstance(node, ast.Attribute) and ast.unparse(node) == target
        for node in ast.walk(value)
    )
