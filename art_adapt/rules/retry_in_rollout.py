"""The agent is tried again inside one rollout, so failed attempts are trained with its reward

``wrap_rollout`` puts all that the model answers in a rollout on one trajectory. If the agent is
run again after an error, the turns of the failed attempt stay there, and are trained with the
reward of the one that succeeded.

Retry the whole rollout: ``art.retry`` around the function that makes the trajectory.

Evidence: art 0.5.18, langgraph/llm_wrapper.py:95-107 (one log for a rollout); art 0.5.23,
langgraph/llm_wrapper.py:100-112.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import decorator_names, dotted
from art_adapt.code.syntax import LOOPS
from art_adapt.rules.code import Code
from art_adapt.rules.code.retries import tries_again
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.words import AWAITS_AGENT, RETRIES

RULE = Rule("ART212", "retry-in-rollout", Severity.GARBAGE)
BAD = (
    """\
import art
from art.langgraph import wrap_rollout

async def episode(question):
    trajectory = art.Trajectory()
    for attempt in range(3):  # <-
        try:
            state = await agent.ainvoke(question)
            break
        except Exception:
            continue
    trajectory.reward = score(state)
    return trajectory

def rollouts(model):
    return wrap_rollout(model, episode)
""",
)
GOOD = (
    """\
import art
from art.langgraph import wrap_rollout

@retry(attempts=3)
async def search(query):
    return await http.get(query)

async def episode(question):
    trajectory = art.Trajectory()
    state = await agent.ainvoke(question)
    trajectory.reward = score(state)
    return trajectory

def rollouts(model):
    return art.retry(max_attempts=3)(wrap_rollout(model, episode))
""",
)


def check(code: Code) -> Iterator[Found]:
    if code.only_evaluates:
        return
    for given in code.given_to_wrap:
        # What is given is retried in the rollout; what wrap_rollout returns is not.
        if isinstance(given, ast.Call) and code.retries.is_one(given.func):
            yield _found(given)
        function = code.given_function(given)
        for decorator in [] if function is None else function.node.decorator_list:
            if code.retries.is_one(decorator):
                yield _found(decorator)
    for function in code.wrapped_rollouts:
        for node in code.syntax.owned_by(function.qualname):
            if isinstance(node, LOOPS) and _tries_again(node):
                yield _found(node)
            elif isinstance(node, ast.Call):
                body = code.entered(node)
                if body is None or body.place.syntax is not code.syntax:
                    continue
                names = decorator_names(body.function.node)
                if any(map(RETRIES.search, names)) and any(map(_runs, body.nodes)):
                    yield _found(node)


def _found(node: ast.For | ast.AsyncFor | ast.While | ast.expr) -> Found:
    return found(
        node,
        "the turns of a failed attempt stay on the trajectory and are trained with the "
        "reward of the next: retry the whole rollout",
    )


def _tries_again(loop: ast.For | ast.AsyncFor | ast.While) -> bool:
    """Return whether a loop runs the agent again after an error."""
    if not any(map(_runs, ast.walk(loop))):
        return False
    if not isinstance(loop, ast.While):
        called = loop.iter.func if isinstance(loop.iter, ast.Call) else loop.iter
        if "range(" not in ast.unparse(loop.iter):
            return RETRIES.search(dotted(called) or "") is not None
    return tries_again(loop, _runs)


def _runs(node: ast.AST) -> bool:
    """Return whether it awaits an agent."""
    return (
        isinstance(node, ast.Await)
        and isinstance(node.value, ast.Call)
        and AWAITS_AGENT.search(ast.unparse(node.value.func)) is not None
    )
