"""after_each reads the variable of a loop that has ended, so every group gets the last scenario's

A lambda or function looks a name up when it runs. The loop that made the groups has ended by then:
``after_each=lambda group: score(group, task)`` scores all groups against the last task.

Let the group carry its scenario (``metadata``, or a field of its trajectories), or make groups and
callback in one function for each scenario.

Evidence: Python, "Why do lambdas defined in a loop with different values all return the same
result?"; art 0.5.18, gather.py:34-39; art 0.5.23, gather.py (``after_each`` runs in the gather).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import arguments_of, bound_names, dotted, names_in
from art_adapt.rules.code import Callback, Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART315", "late-loop-variable", Severity.GARBAGE)
BAD = (
    """\
import art

async def step(model, tasks, rollout, score):
    pending = []
    for task in tasks:
        pending.append(art.TrajectoryGroup(rollout(model, task) for _ in range(8)))
    return await art.gather_trajectory_groups(
        pending,
        after_each=lambda group: score(group, task),  # <-
    )
""",
    """\
import art

async def rollout(model, s):
    return art.Trajectory(messages_and_choices=[s])

def starts(model, scenarios):
    found = {}
    for s in scenarios:
        found[s.id] = lambda: rollout(model, s)  # <-
    return found

def listed(model, scenarios):
    found = []
    for s in scenarios:
        found.append(lambda: rollout(model, s))  # <-
    return found

async def step(model, scenarios):
    table = starts(model, scenarios)
    return await art.gather_trajectory_groups(
        art.TrajectoryGroup(start() for _ in range(8)) for start in table.values()
    )
""",
)
GOOD = (
    """\
import art

async def step(model, tasks, rollout, score):
    groups = []
    for task in tasks:
        groups += await art.gather_trajectory_groups(
            [art.TrajectoryGroup(rollout(model, task) for _ in range(8))],
            after_each=lambda group: score(group, task),
        )
    return groups
""",
    BAD[0].replace("  # <-", "").replace("score(group, task)", "score(group, model)"),
    BAD[0].replace("  # <-", "").replace("lambda group:", "lambda group, task=None:"),
    """\
import art

async def rollout(model, s):
    return art.Trajectory(messages_and_choices=[s])

def starts(model, scenarios):
    found = {}
    for s in scenarios:
        found[s.id] = lambda s=s: rollout(model, s)
    return found

async def step(model, scenarios):
    groups = []
    for s in scenarios:
        starting = []
        starting.append(lambda: rollout(model, s))
        groups.append(art.TrajectoryGroup(start() for start in starting * 8))
    return await art.gather_trajectory_groups(groups)
""",
)


def check(code: Code) -> Iterator[Found]:
    for callback in code.callbacks:
        name = next(_late(code, callback), None)
        if name is not None:
            yield found(
                callback.given,
                f"the loop over {name} has ended when this runs: every group gets the last "
                f"{name}",
            )
    for kept, name in _kept_rollouts(code):
        yield found(
            kept,
            f"the loop over {name} has ended when this runs, so every rollout gets the last {name}: "
            f"bind it with functools.partial, or lambda {name}={name}: ...",
        )


def _kept_rollouts(code: Code) -> Iterator[tuple[ast.expr, str]]:
    """Yield the lambdas that a loop keeps to run its rollouts after it, with its variable."""
    for node in code.syntax.nodes:
        loop = (
            code.syntax.enclosing_loop(node) if isinstance(node, ast.Lambda) else None
        )
        if (
            not isinstance(node, ast.Lambda)
            or not isinstance(loop, ast.For | ast.AsyncFor)
            or not isinstance(node.body, ast.Call)
            or not _runs_a_rollout(code, node.body)
        ):
            continue
        kept = _kept_in(code, node)
        inside = [each for each in code.blocks.inside(loop) if dotted(each) == kept]
        if kept is None or len(inside) != 1:
            continue  # the loop itself may call it
        for name in names_in(node.body) & {*bound_names([loop.target])}:
            if name not in {each.arg for each in arguments_of(node)}:
                yield node, name


def _runs_a_rollout(code: Code, call: ast.Call) -> bool:
    """Return whether a call makes a trajectory, itself or through functions of the file."""
    body = code.entered(call)
    return body is not None and code.trajectories.in_episodes >= {
        body.function.qualname
    }


def _kept_in(code: Code, function: ast.Lambda) -> str | None:
    """Return the container that a lambda is put into: a list, or a mapping."""
    match code.syntax.parents[function]:
        case ast.Assign(targets=[ast.Subscript(value=container)]):
            return dotted(container)
        case ast.Call(func=ast.Attribute(value=container, attr="append")):
            return dotted(container)
    return None


def _late(code: Code, callback: Callback) -> Iterator[str]:
    """Yield the names that a callback has from a loop which made the groups and has ended."""
    function = _written_here(code, callback)
    if function is None:
        return
    own = {each.arg for each in arguments_of(function)}
    for node in ast.walk(function):
        if not isinstance(node, ast.Name) or node.id in own:
            continue
        loops = {each.node for each in code.syntax.definitions.reaching(node)}
        if len(loops) != 1:
            continue
        loop = loops.pop()
        if (
            isinstance(loop, ast.For | ast.AsyncFor)
            and not code.blocks.within(callback.gather, loop)
            and _makes_groups_of(code, loop, node.id)
        ):
            yield node.id


def _written_here(
    code: Code, callback: Callback
) -> ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return the lambda, or the function within the one that gathers."""
    made = callback.made.node
    if isinstance(made, ast.Lambda):
        return made if code.has(callback.made) else None
    body = callback.body
    around = code.syntax.owner(callback.gather)
    if body is None or not body.function.qualname.startswith(f"{around}."):
        return None
    return body.function.node


def _makes_groups_of(code: Code, loop: ast.AST, name: str) -> bool:
    """Return whether a loop makes groups of what its variable stands for."""
    return any(
        code.blocks.within(group, loop) and name in names_in(group)
        for group in code.art_calls("TrajectoryGroup")
    )
