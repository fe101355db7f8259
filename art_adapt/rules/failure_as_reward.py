"""A failure is turned into a reward, so the policy is trained on errors it did not make

If a handler around the model call returns the trajectory with a reward, the policy is punished
for a timeout, a rate limit or a bug: the episode is compared with those that ran, and tokens
that had nothing to do with the failure are made less likely. If nothing was recorded, the
trajectory trains nothing but still shifts the group's mean.

Let the exception propagate: the group goes on without the episode (``max_exceptions``), and
``art.retry`` tries again. Catch errors of the agent's own tools where the tool is called.

Evidence: art 0.5.18, preprocessing/tokenize.py:247-250; art 0.5.23,
preprocessing/tokenize.py:762-772 (the mean is over all trajectories).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from art_adapt.rules.code import Code, below
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.nodes import dotted, keyword

RULE = Rule("ART305", "failure-as-reward", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    try:
        response = await client.chat.completions.create(model="m", messages=messages)
        trajectory.messages_and_choices.append(response.choices[0])
    except Exception as error:  # <-
        trajectory.reward = -1.0
        return trajectory
    trajectory.reward = rate(response)
    return trajectory
""",
    """\
import art, openai

async def rollout(client, model, messages):
    try:
        response = await client.chat.completions.create(model="m", messages=messages)
    except openai.APITimeoutError:  # <-
        return art.Trajectory(messages_and_choices=messages, reward=0.0)
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0]], reward=1)
""",
    """\
import art

async def rollout(agent, scenario):
    trajectory = art.Trajectory()
    try:
        trajectory.reward = rate(await agent.ainvoke(scenario))
    except Exception as error:  # <-
        trajectory.reward = 0.0
    return trajectory
""",
)
GOOD = (
    """\
import art, json

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    try:
        response = await client.chat.completions.create(model="m", messages=messages)
    except Exception as error:
        print(error)
        raise
    trajectory.messages_and_choices.append(response.choices[0])
    try:
        move = json.loads(response.choices[0].message.content)
    except ValueError:
        trajectory.reward = -1
        return trajectory
    trajectory.reward = play(move)
    return trajectory
""",
    """\
import art, openai

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    try:
        response = await client.chat.completions.create(model="m", messages=messages)
    except openai.LengthFinishReasonError:
        trajectory.reward = -1.0
        return trajectory
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
)
# Names of functions that run an episode or ask the model.
EPISODE = re.compile(
    r"invoke|capture|episode|agent|rollout|solve|complet|chat|generat|play|\bask", re.I
)
BROAD = {"Exception", "BaseException"}
# Errors that the model does not cause. An answer that is too long or refused is its doing.
OTHERS = BROAD | {
    "TimeoutError",
    "APITimeoutError",
    "APIConnectionError",
    "RateLimitError",
    "APIError",
    "APIStatusError",
    "OpenAIError",
    "InternalServerError",
    "HTTPError",
    "ConnectionError",
}


def check(code: Code) -> Iterator[Found]:
    if "TrajectoryGroup" not in code.source.text and "__main__" in code.source.text:
        return  # the script only evaluates
    callees = {call.callee for call in code.completions.calls}
    for node in code.syntax.nodes:
        if not isinstance(node, ast.Try) or not code.trajectories.in_rollout(node):
            continue
        tried = set(below(node.body))
        asks = bool(tried & callees)
        awaits = any(
            isinstance(each, ast.Await)
            and isinstance(each.value, ast.Call)
            and EPISODE.search(ast.unparse(each.value.func))
            for each in tried
        )
        for handler in node.handlers:
            names = _names(handler)
            caught = (asks and names & OTHERS) or (awaits and names & BROAD)
            if caught and _rewards(code, handler):
                yield found(
                    handler,
                    "a failure of the endpoint or of this code becomes a reward that the "
                    "policy is trained on; let it raise, and the group goes on without "
                    "this episode",
                )


def _names(handler: ast.ExceptHandler) -> set[str]:
    """Return the last names of the exceptions that are caught."""
    if handler.type is None:
        return {"BaseException"}
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {(dotted(kind) or "").rpartition(".")[2] for kind in kinds}


def _rewards(code: Code, handler: ast.ExceptHandler) -> bool:
    """Return whether the handler always gives a trajectory a constant reward."""
    nodes = list(below(handler.body))
    if any(isinstance(node, ast.Raise) for node in nodes):
        return False
    last = handler.body[-1]
    if (
        isinstance(last, ast.Return)
        and code.constant(last.value or ast.Constant(None)) is None
    ):
        return False  # the episode is dropped
    wrote = any(
        write.node in nodes and code.constant(write.value) is not ...
        for write in code.rewards.writes
    )
    made = any(
        isinstance(node, ast.Call)
        and node in code.trajectories.new
        and keyword(node, "reward") is not None
        for node in nodes
    )
    return wrote or made
