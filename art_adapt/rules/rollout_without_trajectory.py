"""A rollout can end without a trajectory, so its episode is lost or ends the run

A rollout that returns None (a bare ``return``, or a path that reaches the end) counts as an
exception in ``gather_trajectory_groups``; without ``max_exceptions`` it ends the run. On 0.5.23 a
group that is made with None raises a ValidationError.

Return a trajectory on each path, or raise an exception that says why there is none.

Evidence: art 0.5.18, trajectories.py:278-291 and gather.py (record_metrics); art 0.5.23,
trajectories/__init__.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.reaching import is_left
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART525", "rollout-without-trajectory", Severity.WASTE)
BAD = (
    """\
import art

async def rollout(client, model, question):
    trajectory = art.Trajectory()
    if not question:
        return  # <-
    return trajectory

async def gather(client, model, questions):
    return await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(client, model, q) for _ in range(4)) for q in questions
    )
""",
    """\
import art

async def rollout(client, model, question) -> art.Trajectory | None:
    trajectory = art.Trajectory()
    if not question:
        return None  # <-
    return trajectory

def group(client, model, question):
    return art.TrajectoryGroup(rollout(client, model, question) for _ in range(4))
""",
    """\
import art

async def rollout(client, model, game) -> art.Trajectory:  # <-
    trajectory = art.Trajectory()
    for _ in range(10):
        if game.over:
            return trajectory
""",
    """\
import art, functools

def skips(*errors):
    def wrap(function):
        @functools.wraps(function)
        async def inner(*args):
            try:
                return await function(*args)
            except errors as error:  # <-
                print(error)
        return inner
    return wrap

@skips(ValueError)
async def rollout(client, question) -> art.Trajectory:
    trajectory = art.Trajectory()
    return trajectory
""",
)
GOOD = (
    """\
import art, functools

def says(function):
    @functools.wraps(function)
    async def inner(*args):
        try:
            return await function(*args)
        except ValueError as error:
            print(error)
            raise
    return inner

@says
async def rollout(client, question) -> art.Trajectory:
    trajectory = art.Trajectory()
    return trajectory
""",
    """\
import art

async def rollout(client, model, game) -> art.Trajectory:
    trajectory = art.Trajectory()
    while True:
        if game.over:
            return trajectory
        if game.broken:
            raise RuntimeError("broken")
""",
    """\
import art

async def attempt(game) -> art.Trajectory | None:
    if game.over:
        return None
    return art.Trajectory()

async def group(game):
    tried = await asyncio.gather(*(attempt(game) for _ in range(4)))
    return art.TrajectoryGroup([each for each in tried if each is not None])

async def at_once(game):
    return art.TrajectoryGroup(t for t in [await attempt(game) for _ in range(4)] if t)
""",
)


def check(code: Code) -> Iterator[Found]:
    grouped = any(code.art_calls("TrajectoryGroup"))
    for function in code.wrapped_rollouts if grouped else ():
        nodes = list(code.syntax.owned_by(function.qualname))
        if not any(isinstance(node, ast.Return | ast.Raise) for node in nodes):
            yield found(function.node, "this rollout returns nothing: " + WHY)
    for function in code.syntax.functions.values():
        nodes = list(code.syntax.owned_by(function.qualname))
        if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in nodes):
            continue
        returns = [node for node in nodes if isinstance(node, ast.Return)]
        given = [each.value for each in returns if each.value is not None]
        if not any(
            code.trajectories.is_one(value) or _is_new(code, value) for value in given
        ):
            continue
        if not _is_promised(code, function.node) and not _is_grouped(
            code, function.qualname
        ):
            continue
        for each in returns:
            if each.value is None or code.constant(each.value) is None:
                yield found(each, "this rollout returns None: " + WHY)
        for decorator in function.node.decorator_list:
            for handler in _swallowing(code, decorator):
                yield found(
                    handler,
                    f"{function.qualname} returns None after this error: {WHY}",
                )
        if not _ends(function.node.body):
            yield found(function.node, "this rollout can end without a return: " + WHY)


def _swallowing(code: Code, decorator: ast.expr) -> Iterator[ast.ExceptHandler]:
    """Yield the handlers of a decorator of this file after which what it wraps returns nothing."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    outer = code.flow.functions.in_file(code.syntax, called)
    if outer is None:
        return
    for name, function in code.syntax.functions.items():
        last = _last(function.node.body)
        if (
            name.startswith(f"{outer.qualname}.")
            and isinstance(last, ast.Try)
            and any(isinstance(each, ast.Return) and each.value for each in last.body)
        ):
            yield from (each for each in last.handlers if _gives_nothing(each))


def _gives_nothing(handler: ast.ExceptHandler) -> bool:
    """Return whether a function returns None after an error."""
    last = handler.body[-1]
    if isinstance(last, ast.Return):
        return last.value is None or (
            isinstance(last.value, ast.Constant) and last.value.value is None
        )
    return not is_left(handler.body)


MEMBERS = (ast.ListComp, ast.GeneratorExp, ast.List)
WHY = "the episode counts as failed; return a trajectory, or raise"


def _is_new(code: Code, value: ast.expr) -> bool:
    return any(each.node in code.trajectories.new for each in code.values(value))


def _is_promised(code: Code, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether the function is annotated to return a trajectory, and no None."""
    returns = function.returns
    return returns is not None and code.trajectories.is_class(returns)


def _is_grouped(code: Code, rollout: str) -> bool:
    """Return whether groups are made of calls of this function."""
    function = code.syntax.functions[rollout]
    optional = function.node.returns is not None and "None" in ast.unparse(
        function.node.returns
    )
    return any(
        isinstance(node, ast.Call)
        and code.art_name(node.func) == "art.TrajectoryGroup"
        and (not optional or _is_member(code, call, node))
        for call in code.flow.functions.calls_of(code.syntax, function)
        for node in code.syntax.ancestors(call)
    )


def _is_member(code: Code, call: ast.Call, group: ast.Call) -> bool:
    """Return whether a group awaits a call itself: nothing can leave its None out before."""
    around = code.syntax.parents[call]
    if isinstance(around, MEMBERS):
        around = code.syntax.parents[around]
    if isinstance(around, ast.keyword):
        around = code.syntax.parents[around]
    return around is group


def _last(body: list[ast.stmt]) -> ast.stmt:
    """Return the last statement of a body, within what is a context alone."""
    last = body[-1]
    while isinstance(last, ast.With | ast.AsyncWith):
        last = last.body[-1]
    return last


def _ends(body: list[ast.stmt]) -> bool:
    """Return whether a body never reaches its end, or only with the last of some attempts."""
    last = _last(body)
    tries = any(isinstance(node, ast.Try) for node in ast.walk(last))
    return is_left(body) or (isinstance(last, ast.For | ast.AsyncFor) and tries)
