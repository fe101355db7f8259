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

from art_adapt.code.nodes import Function, dotted
from art_adapt.code.syntax import LOOPS
from art_adapt.rules.code import Code, below
from art_adapt.rules.code.failures import (
    is_taken_for_the_end,
    speaks_for_the_model,
    statements_after,
)
from art_adapt.rules.code.handlers import BROAD, NOT_ITS_DOING, Handler, handlers
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.words import AWAITS_EPISODE

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
    """\
import art

async def rollout(agent, scenario):
    trajectory = art.Trajectory()
    try:
        answer = await agent.ainvoke(scenario)
        trajectory.messages_and_choices.extend(answer["messages"])
    except Exception as error:  # <-
        said = {"role": "assistant", "content": f"Error: {error}"}
        trajectory.messages_and_choices.append(said)
    return trajectory
""",
    """\
import art
from art.rewards import ruler_score_group

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    try:
        response = await client.chat.completions.create(
            model=model.get_inference_name(), messages=messages
        )
        trajectory.messages_and_choices.append(response.choices[0])
    except Exception:  # <-
        pass
    return trajectory

async def judged(client, model, messages):
    group = await art.TrajectoryGroup(rollout(client, model, messages) for _ in range(4))
    return await ruler_score_group(group, "openai/o3")
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
    """\
import art

async def rollout(agent, scenario):
    trajectory = art.Trajectory()
    try:
        answer = await agent.ainvoke(scenario)
    except Exception as error:
        trajectory.messages_and_choices.append({"role": "assistant", "content": "Failed."})
        raise
    trajectory.messages_and_choices.extend(answer["messages"])
    return trajectory
""",
    """\
import art

async def rollout(agent, scenario):
    trajectory = art.Trajectory()
    try:
        answer = await agent.ainvoke(scenario)
    except Exception as error:
        trajectory.messages_and_choices.append({"role": "assistant", "content": "Failed."})
        return error
    trajectory.messages_and_choices.extend(answer["messages"])
    return trajectory

async def again(agent, scenario, retry):
    trajectory, failed = art.Trajectory(), None
    try:
        answer = await agent.ainvoke(scenario)
    except Exception as error:
        trajectory.messages_and_choices.append({"role": "assistant", "content": "Failed."})
        failed = error
    if failed is not None:
        raise failed
    return trajectory
""",
)
# What only a connection raises, whatever is awaited.
LOST = frozenset(
    ["ConnectionError", "APIConnectionError", "RateLimitError", "APITimeoutError"]
)
MESSAGE = (
    "a failure of the endpoint or of this code becomes a reward that the policy is trained "
    "on; let it raise, and the group goes on without this episode"
)


def check(code: Code) -> Iterator[Found]:
    if code.only_evaluates:
        return
    yield from _swallowed(code)
    yield from _filled_in(code)
    for handler in handlers(code.syntax):
        if not code.trajectories.in_episode(handler.statement):
            continue
        tried = list(below(handler.tried))
        asks = any(_asks(code, node) for node in tried)
        awaits = any(
            isinstance(each, ast.Await)
            and isinstance(each.value, ast.Call)
            and AWAITS_EPISODE.search(ast.unparse(each.value.func))
            for each in tried
        )
        lost = handler.names & LOST and any(isinstance(n, ast.Await) for n in tried)
        lost = lost or (handler.names & BROAD and _wraps(code, handler))
        if not (
            (asks and handler.names & NOT_ITS_DOING)
            or (awaits and handler.names & BROAD)
            or lost
        ):
            continue
        nodes = list(below(handler.body))
        if any(isinstance(node, ast.Raise) for node in nodes):
            continue
        if (
            _rewards(code, handler, nodes, asks)
            or _keeps_reward(code, handler, tried)
            or speaks_for_the_model(code, handler, nodes)
        ):
            yield found(handler.node, MESSAGE)


def _asks(code: Code, node: ast.AST) -> bool:
    """Return whether a node asks the policy, or puts on the trajectory what it said."""
    if code.completions.asks(node):
        return True
    if isinstance(node, ast.Await) and isinstance(node.value, ast.Call):
        called = node.value.func
        return isinstance(called, ast.Attribute) and code.models.is_one(called.value)
    return any(
        put.by is node
        and put.by not in code.trajectories.new
        and not any(isinstance(each.node, ast.Dict) for each in code.values(put.value))
        for put in code.trajectories.puts
    )


def _swallowed(code: Code) -> Iterator[Found]:
    """Yield the returns of a trajectory in a ``finally``, which drop the exception."""
    for node in code.syntax.nodes:
        if not isinstance(node, ast.Try) or not code.trajectories.in_rollout(node):
            continue
        asks = any(code.completions.asks(each) for each in below(node.body))
        for last in node.finalbody[-1:] if asks else ():
            if (
                isinstance(last, ast.Return)
                and last.value is not None
                and code.trajectories.is_one(last.value)
            ):
                yield found(
                    last,
                    "a return in finally drops every exception: " + MESSAGE,
                )


def _filled_in(code: Code) -> Iterator[Found]:
    """Yield the trajectories that are made up in place of gathered exceptions."""
    for call in code.trajectories.new:
        choice = code.syntax.parents.get(call)
        if (
            isinstance(choice, ast.IfExp)
            and code.contents.given(call, "reward") is not None
            and isinstance(choice.test, ast.Call)
            and dotted(choice.test.func) == "isinstance"
            and re.search(r"Trajectory$|Exception", ast.unparse(choice.test.args[-1]))
        ):
            yield found(call, MESSAGE)


def _wraps(code: Code, handler: Handler) -> bool:
    """Return whether it returns what another rollout gives, or makes a trajectory up."""
    tried, last = handler.tried[-1], handler.body[-1] if handler.body else None
    return (
        isinstance(tried, ast.Return)
        and isinstance(tried.value, ast.Await)
        and isinstance(last, ast.Return)
        and last.value in code.trajectories.new
    )


def _rewards(code: Code, handler: Handler, nodes: list[ast.AST], asks: bool) -> bool:
    """Return whether a handler always gives a trajectory a reward.

    Where the model itself was asked it may be any; elsewhere a constant.
    """
    last = handler.body[-1] if handler.body else None
    if isinstance(last, ast.Return) and _is_none(code, last):
        return False  # the episode is dropped
    wrote = any(
        write.node in nodes and (asks or code.constant(write.value) is not ...)
        for write in code.rewards.writes
    )
    made = any(
        isinstance(node, ast.Call)
        and node in code.trajectories.new
        and code.contents.given(node, "reward") is not None
        for node in nodes
    )
    return wrote or made


def _keeps_reward(code: Code, handler: Handler, tried: list[ast.AST]) -> bool:
    """Return whether the trajectory goes on with the reward that it was made with."""
    function = code.function_of(handler.statement)
    if function is None:
        return False
    if _is_judged_later(code):
        return _is_judged_empty(code, handler, function, tried)
    last = handler.body[-1] if handler.body else None
    if isinstance(last, ast.Return):
        if last.value is None or not code.trajectories.is_one(last.value):
            return _is_none(code, last) and is_taken_for_the_end(
                code, function.qualname
            )
        return _is_made_with_reward(code, last.value)
    if code.syntax.owner(handler.statement) not in code.trajectories.rollouts:
        return False
    loop = code.syntax.enclosing_loop(handler.statement)
    if isinstance(last, ast.Continue) and not isinstance(loop, ast.For):
        return False  # it tries again until it succeeds
    if isinstance(last, ast.Break | ast.Continue) and loop is not None:
        later = statements_after(code, function.node, loop)
        if any(isinstance(node, ast.Raise) for node in below(loop.orelse)):
            return False
    else:
        later = statements_after(code, function.node, handler.statement)
    if any(isinstance(node, ast.Raise) for node in below(later)):
        return False
    returned = [
        node.value
        for node in below(later)
        if isinstance(node, ast.Return) and node.value is not None
    ]
    if any(_is_made_up(code, each) for each in returned[-1:]):
        return True
    if not any(code.trajectories.is_one(each) for each in returned):
        return False
    certain = [write for write in code.rewards.writes if write.node in later]
    asked = any(code.completions.asks(node) for node in tried)
    cut_short = asked and (isinstance(last, ast.Break) or _ends(handler, loop))
    cut_short = cut_short or _is_whole_dialog(code, handler, function)
    if not cut_short and any(code.constant(w.value) is ... for w in certain):
        return False  # what did happen is rewarded
    within = list(below(loop.body)) if loop is not None else tried
    elsewhere = (*within, *below(later))
    return any(write.node in elsewhere for write in code.rewards.writes)


def _is_judged_empty(
    code: Code, handler: Handler, function: Function, tried: list[ast.AST]
) -> bool:
    """Return whether a judge gets the trajectory without the one answer that has failed."""
    if code.syntax.enclosing_loop(handler.statement) or not any(
        code.completions.asks(node) for node in tried
    ):
        return False
    answers = [p for p in code.trajectories.puts if code.sampled.is_choice(p.value)]
    own = [p for p in answers if code.syntax.owner(p.by) == function.qualname]
    last = handler.body[-1] if handler.body else None
    rest = statements_after(code, function.node, handler.statement)
    later = list(below([last] if isinstance(last, ast.Return) else rest))
    returned = [n.value for n in later if isinstance(n, ast.Return) and n.value]
    return (
        bool(own)
        and all(put.by in tried for put in own)
        and not any(isinstance(node, ast.Raise) for node in later)
        and any(map(code.trajectories.is_one, returned))
    )


def _is_whole_dialog(code: Code, handler: Handler, function: Function) -> bool:
    """Return whether what is tried is the whole dialog, which the error then ends.

    That is the loop of the turns, or the agent that ``wrap_rollout`` records.
    """
    tried = list(below(handler.tried))
    loops = [node for node in tried if isinstance(node, LOOPS)]
    if any(_asks(code, node) for loop in loops for node in ast.walk(loop)):
        return True
    return function in code.wrapped_rollouts and any(
        isinstance(node, ast.Await) for node in tried
    )


def _ends(handler: Handler, loop: ast.AST | None) -> bool:
    """Return whether a handler sets what a loop goes on by: ``going = False``."""
    if not isinstance(loop, ast.While):
        return False
    asked = {dotted(node) for node in ast.walk(loop.test)} - {None}
    return any(
        isinstance(each, ast.Assign)
        and isinstance(each.value, ast.Constant)
        and not asked.isdisjoint(map(dotted, each.targets))
        for each in handler.body
    )


def _is_made_up(code: Code, returned: ast.expr) -> bool:
    """Return whether a new trajectory is returned, with a constant for a reward."""
    given = (
        code.contents.given(returned, "reward")
        if isinstance(returned, ast.Call)
        else None
    )
    return (
        returned in code.trajectories.new
        and given is not None
        and code.constant(given) is not ...
    )


def _is_judged_later(code: Code) -> bool:
    return code.rewards.may_be_set_elsewhere or any(
        code.art_calls("ruler_score_group", "ruler")
    )


def _is_none(code: Code, statement: ast.Return) -> bool:
    """Return whether it returns None, perhaps with a flag beside."""
    value = statement.value
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    return any(each is None or code.constant(each) in (None, "") for each in parts)


def _is_made_with_reward(code: Code, trajectory: ast.expr) -> bool:
    """Return whether rewards are set on it in this file, but not on the way here."""
    name = dotted(code.trajectories.finished(trajectory))
    return any(
        write.target is not None and dotted(write.target.value) == name
        for write in code.rewards.writes
    )
