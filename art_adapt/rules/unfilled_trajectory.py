"""The trajectory is read before it is filled, so the reward does not see the episode

``wrap_rollout`` puts the turns on the trajectory after the function has returned. Inside the
function its messages are empty: a reward that reads them scores every episode alike.

Compute the reward from what the agent returns, or after the gather (``after_each``).

Evidence: art 0.5.18, langgraph/llm_wrapper.py:95-107; art 0.5.23, langgraph/llm_wrapper.py:100-112.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import argument_of, dotted
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART312", "unfilled-trajectory", Severity.GARBAGE)
BAD = (
    """\
import art
from art.langgraph import wrap_rollout

async def episode(question):
    trajectory = art.Trajectory()
    await agent.ainvoke(question)
    trajectory.reward = score(trajectory.messages())  # <-
    return trajectory

def rollouts(model):
    return wrap_rollout(model, episode)
""",
)
GOOD = (
    """\
import art
from art.langgraph import wrap_rollout

async def episode(question):
    trajectory = art.Trajectory()
    state = await agent.ainvoke(question)
    trajectory.reward = score(state["messages"])
    return trajectory

async def scored(model, question):
    trajectory = await wrap_rollout(model, episode)(question)
    trajectory.metrics["turns"] = len(trajectory.messages())
    return trajectory
""",
)


def check(code: Code) -> Iterator[Found]:
    for function in code.wrapped_rollouts:
        filled = {code.syntax.owner(put.by) for put in code.trajectories.puts}
        if function.qualname in filled:
            continue  # it also fills the trajectory itself
        for node in code.syntax.owned_by(function.qualname):
            if (
                _reads(node)
                and isinstance(node, ast.Attribute)
                and code.trajectories.is_one(node.value)
            ) or (isinstance(node, ast.Call) and _hands_on(code, node)):
                yield found(
                    node,
                    "wrap_rollout fills the trajectory after this function has returned: "
                    "here it is still empty; read what the agent returns",
                )


def _reads(node: ast.AST) -> bool:
    """Return whether it reads the messages of an object."""
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and node.attr in ("messages", "messages_and_choices")
    )


def _hands_on(code: Code, call: ast.Call) -> bool:
    """Return whether a function gets the trajectory and reads its messages."""
    body = code.flow.functions.enter(code.flow.here(call))
    if body is None:
        return False
    names = {
        name
        for name in body.function.given
        if (given := argument_of(call, name, body.function.positional)) is not None
        and isinstance(given, ast.Name)
        and code.trajectories.is_one(given)
    }
    return any(
        isinstance(node, ast.Attribute) and _reads(node) and dotted(node.value) in names
        for node in body.nodes
    )
