"""A penalty that ends a loop or handles an error is overwritten after it, so it is never trained on

The loop sets a penalty and breaks (an invalid move, a tool that does not exist); after the
loop the reward is set again, whatever happened. Or the handler of an error sets it, and what
follows the ``try``, or its ``finally``, sets it again. The penalty is lost, and the model never
learns to avoid its cause.

Return where the penalty is set, or set the final reward only if nothing went wrong.

Evidence: the order in which Python runs the statements. ART's own 2048 example does this with
the -1 for an invalid move.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import Function, argument_of
from art_adapt.rules.code import Code, RewardWrite
from art_adapt.rules.code.blocks import LEAVING
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
    """\
import art

class Referee:
    def __init__(self, board):
        self.board = board

    def final(self, trajectory):
        share = self.board.filled() / 81
        trajectory.metrics.update(filled=share)
        trajectory.reward = 1.5 if self.board.solved() else share
        return trajectory

async def rollout(client, model, board):
    referee = Referee(board)
    trajectory = art.Trajectory(messages_and_choices=[])
    try:
        done = await client.chat.completions.create(model=model.name, messages=trajectory.messages())
        trajectory.messages_and_choices.append(done.choices[0])
        board.play(done.choices[0].message.content)
    except IllegalMove:
        trajectory.reward = -1.0  # <-
    finally:
        referee.final(trajectory)
    return trajectory
""",
    """\
import art

async def rollout(model, game):
    trajectory = art.Trajectory()
    try:
        game.move(1)
    except ValueError:
        trajectory.metrics["illegal"] = 1
        trajectory.reward = -1  # <-
    trajectory.reward = game.score
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
    """\
import art

async def rollout(model, game):
    trajectory = art.Trajectory()
    try:
        game.move(1)
    except ValueError:
        trajectory.reward = -1
        return trajectory
    except KeyError:
        trajectory.reward = -1
    else:
        trajectory.reward = game.score
    finally:
        game.close(trajectory)
    trajectory.reward += 0.1
    return trajectory
""",
)


def check(code: Code) -> Iterator[Found]:
    for write in code.rewards.writes:
        target = _target(write)
        if target is None:
            continue
        for statement in _after(code, write):
            if _overwrites(code, statement, target):
                yield found(
                    write.node,
                    f"this reward is always overwritten at line {statement.lineno}, so it is "
                    "never trained on",
                )
                break
            if any(isinstance(n, LEAVING) for n in ast.walk(statement)):
                break  # it may leave because of this reward


def _after(code: Code, write: RewardWrite) -> list[ast.stmt]:
    """Return what runs after a loop that the write ends, or after the error that it handles."""
    if (loop := _ends_loop(code, write)) is not None:
        return code.blocks.after(loop)
    handler = code.syntax.parents.get(write.node)
    tried = code.syntax.parents.get(handler) if handler is not None else None
    if not isinstance(handler, ast.ExceptHandler) or not isinstance(tried, ast.Try):
        return []
    rest = code.blocks.after(write.node)
    leaves = any(isinstance(each, (*LEAVING, ast.Raise)) for each in rest)
    return [*rest, *tried.finalbody, *([] if leaves else code.blocks.after(tried))]


def _overwrites(code: Code, statement: ast.stmt, target: str) -> bool:
    """Return whether every path through ``statement`` sets the reward again."""
    if isinstance(statement, ast.If):
        if _reads(statement.test, target) or not statement.orelse:
            return False
        return all(
            any(_overwrites(code, each, target) for each in branch)
            for branch in (statement.body, statement.orelse)
        )
    if isinstance(statement, ast.With | ast.AsyncWith):
        return any(_overwrites(code, each, target) for each in statement.body)
    return _is_set_by_call(code, statement, target) or any(
        write.node is statement
        and _target(write) == target
        and not isinstance(statement, ast.AugAssign)
        and not _reads(write.value, target)
        for write in code.rewards.writes
    )


def _is_set_by_call(code: Code, statement: ast.stmt, target: str) -> bool:
    """Return whether a function gets the trajectory and sets its reward, whatever it was."""
    call = statement.value if isinstance(statement, ast.Expr | ast.Return) else None
    call = call.value if isinstance(call, ast.Await) else call
    if not isinstance(call, ast.Call):
        return False
    function = code.flow.functions.in_file(code.syntax, call.func)
    given = {} if function is None else _given(call, function)
    trajectory = target.rpartition(".")[0]
    return function is not None and any(
        _overwrites(code, each, f"{name}.reward")
        and not any(_reads(node, f"{name}.reward") for node in function.node.body)
        for name, argument in given.items()
        if argument is not None and ast.unparse(argument) == trajectory
        for each in function.node.body
        if not isinstance(each, ast.Expr)  # it may be a call again
    )


def _given(call: ast.Call, function: Function) -> dict[str, ast.expr | None]:
    return {n: argument_of(call, n, function.positional) for n in function.given}


def _ends_loop(code: Code, write: RewardWrite) -> ast.stmt | None:
    """Return the loop that a break leaves after the write."""
    if isinstance(write.node, ast.Call):
        return None
    if not any(isinstance(each, ast.Break) for each in code.blocks.after(write.node)):
        return None
    return code.syntax.enclosing_loop(write.node)


def _target(write: RewardWrite) -> str | None:
    return None if write.target is None else ast.unparse(write.target)


def _reads(value: ast.AST, target: str) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and ast.unparse(node) == target
        for node in ast.walk(value)
    )
