"""Results are paired with what they were made of by position, but come in another order

A group that is gathered holds its episodes in the order in which they end, and so does
``asyncio.as_completed``: ``zip(group.trajectories, TEMPERATURES)`` gives an episode the value of
another one.

``gather_trajectory_groups`` leaves out each group for which ``after_each`` returned None, such as
one that the judge could not score. Every later group moves up, and ``zip(groups, scenarios)`` pairs
it with another one's scenario: its rewards are computed from the wrong answer.

Let the group carry its scenario: ``art.TrajectoryGroup(..., metadata={"scenario": scenario.id})``,
or let the trajectory have it in its own metadata.

Evidence: art 0.5.18, gather.py:50-59 and trajectories.py (a group awaits ``as_completed``); art
0.5.23, gather.py ("Filter out any None results") and trajectories.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Collection, Iterator

from art_adapt.code.dependence import made_from
from art_adapt.code.nodes import (
    dotted,
    first_argument,
    given_to,
    keyword,
    last_name,
    names_in,
)
from art_adapt.rules.code import Code, Value
from art_adapt.rules.code.annotated import is_group
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART316", "shifted-pairs", Severity.GARBAGE)
BAD = (
    """\
import art
from art.rewards import ruler_score_group

async def step(model, scenarios, rollout):
    groups = await art.gather_trajectory_groups(
        (art.TrajectoryGroup(rollout(model, s) for _ in range(8)) for s in scenarios),
        after_each=lambda g: ruler_score_group(g, "openai/o3", swallow_exceptions=True),
    )
    for group, scenario in zip(groups, scenarios):  # <-
        for trajectory in group:
            trajectory.reward += scenario.bonus
""",
    """\
import art

HEAT = [0.7, 0.9, 1.1]

async def step(model, backend, scenarios, rollout):
    groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(model, s, heat) for heat in HEAT) for s in scenarios
    )
    for group in groups:
        for trajectory, heat in zip(group.trajectories, HEAT):  # <-
            trajectory.reward -= 0.1 * heat
    await backend.train(model, groups)
""",
    """\
import art, asyncio

async def collect(model, scenarios, rollout):
    found = {scenario.id: [] for scenario in scenarios}
    jobs = [asyncio.create_task(rollout(model, scenario)) for scenario in scenarios]
    for scenario, job in zip(scenarios, asyncio.as_completed(jobs)):  # <-
        found[scenario.id].append(await job)
    return [art.TrajectoryGroup(each) for each in found.values()]
""",
    """\
import art, asyncio

class Panel:
    async def score(self, group: art.TrajectoryGroup):
        pending = [self.rate(each.messages()[-1]) for each in group]
        scores = [await done for done in asyncio.as_completed(pending)]
        for trajectory, score in zip(group, scores):  # <-
            trajectory.reward = score
        return group

    async def marked(self, group: art.TrajectoryGroup):
        marks = []
        for done in asyncio.as_completed([self.rate(t.messages()[-1]) for t in group]):
            marks.append(await done)
        for trajectory, mark in zip(group.trajectories, marks):  # <-
            trajectory.metrics["mark"] = mark
        return group
""",
    """\
import art

class Panel:
    async def __call__(self, group: art.TrajectoryGroup):
        answers = sorted(map(said_last, group), key=len)
        for trajectory, score in zip(group.trajectories, await self.rate(answers)):  # <-
            trajectory.reward = score
        return group
""",
)
GOOD = (
    BAD[0].replace("  # <-", "").replace(", swallow_exceptions=True", ""),
    BAD[0].replace("scenarios):  # <-", "scenarios, strict=True):"),
    BAD[0]
    .replace("  # <-", "")
    .replace("zip(groups, scenarios)", "zip(groups, range(9))"),
    """\
import art, asyncio

async def step(model, backend, scenarios, rollout):
    groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(model, s) for _ in range(8)) for s in scenarios
    )
    for group, scenario in zip(groups, scenarios):
        for trajectory, number in zip(group.trajectories, range(8)):
            trajectory.metadata["number"] = number
    for number, job in zip(range(9), asyncio.as_completed(map(rollout, scenarios))):
        print(number, await job)
""",
    """\
import art, asyncio

async def score(group: art.TrajectoryGroup, rate):
    scores = await asyncio.gather(*(rate(each.messages()[-1]) for each in group))
    for trajectory, score in zip(group, scores):
        trajectory.reward = score
    return group
""",
    """\
import art

async def rated(group: art.TrajectoryGroup, rate):
    order = sorted(range(len(group)), key=lambda at: len(said_last(group.trajectories[at])))
    scores = await rate([said_last(group.trajectories[at]) for at in order])
    for at, score in zip(order, scores):
        group.trajectories[at].reward = score
    return group
""",
)


def check(code: Code) -> Iterator[Found]:
    dropping = {c.gather for c in code.callbacks if code.callbacks.may_drop(c)}
    every = {*code.art_calls("gather_trajectory_groups")}
    for call in code.calls:
        name = dotted(call.func)
        if name == "zip" and code.constant(keyword(call, "strict")) is not True:
            pairs = [(one, two) for one in call.args for two in call.args]
        elif name == "enumerate" and call.args:
            pairs = [(call.args[0], each) for each in _indexed(code, call)]
        else:
            continue
        if any(_is_of(code, two, _gathered(code, one, dropping)) for one, two in pairs):
            yield found(
                call,
                "groups that after_each dropped are missing here, so later ones get the "
                "scenario of another: keep it in the group's metadata",
            )
        elif any(_is_of(code, two, _group_of(code, one, every)) for one, two in pairs):
            yield found(
                call,
                "a group has its episodes in the order in which they ended, so each may get the "
                "value of another: keep it in the trajectory's metadata",
            )
        elif name == "zip" and any(_is_reordered(code, *pair) for pair in pairs):
            yield found(
                call,
                "these results are in the order of a sorted list, and the group is not, so each "
                "episode may get what belongs to another: sort both, or neither",
            )
        elif name == "zip" and _is_as_they_end(code, call):
            yield found(
                call,
                "as_completed gives what ends first, so each result gets what belongs to "
                "another: await them in their order, or let the result carry it",
            )


def _group_of(
    code: Code, members: ast.expr, gathers: Collection[ast.Call]
) -> list[Value]:
    """Return the gathers of the groups that a loop goes through, if these are a group's episodes."""
    group = members.value if isinstance(members, ast.Attribute) else members
    loop = code.syntax.enclosing_loop(members)
    for outer in [loop, *(code.syntax.enclosing_loops(loop) if loop else ())]:
        if isinstance(outer, ast.For) and dotted(outer.target) == dotted(group):
            return _gathered(code, outer.iter, gathers)
    return []


def _is_as_they_end(code: Code, call: ast.Call) -> bool:
    """Return whether it pairs what ends first with what has an order."""
    ending = [_ends_first(code, each) for each in call.args]
    counting = [
        isinstance(each, ast.Call) and last_name(each.func) in ("range", "count")
        for each in call.args
    ]
    return any(ending) and not all(map(operator.or_, ending, counting))


def _is_reordered(code: Code, members: ast.expr, results: ast.expr) -> bool:
    """Return whether results were made of a group's members after these were sorted."""
    group = members.value if isinstance(members, ast.Attribute) else members
    if not is_group(code.flow, code.flow.here(group)):
        return False
    asked = results.value if isinstance(results, ast.Await) else results
    made = given_to(asked) if isinstance(asked, ast.Call) else [asked]
    return any(
        isinstance(value.node, ast.Call)
        and dotted(value.node.func) == "sorted"
        and (dotted(group) or "") in names_in(value.node)
        for each in made
        for value in code.values(each)
    )


def _ends_first(code: Code, items: ast.expr) -> bool:
    """Return whether items are in the order in which their tasks end, also in a list of them."""
    sources = [value.node for value in code.values(items)]
    for each in code.contents.elements(items):
        outer = next(each.syntax.enclosing_loops(each.node), None)
        sources += [outer.iter] if isinstance(outer, ast.For | ast.AsyncFor) else []
    for source in [*sources]:
        if isinstance(source, ast.ListComp | ast.GeneratorExp):
            sources.append(source.generators[0].iter)
    return any(
        isinstance(each, ast.Call) and last_name(each.func) == "as_completed"
        for each in sources
    )


def _gathered(
    code: Code, groups: ast.expr, dropping: Collection[ast.Call]
) -> list[Value]:
    """Return the gathers that certainly gave the groups."""
    values = code.values(groups)
    found_here = [value for value in values if value.node in dropping]
    return found_here if len(found_here) == len(values) else []


def _is_of(code: Code, other: ast.expr, gathers: list[Value]) -> bool:
    """Return whether it is what the groups of a gather were made for, one by one."""
    names = {dotted(other), *(dotted(value.node) for value in code.values(other))}
    return any(names & _gone_through(code, gather) for gather in gathers)


def _gone_through(code: Code, gather: Value) -> set[str | None]:
    """Return the names of what the groups of a gather were made from in a loop."""
    assert isinstance(gather.node, ast.Call)
    groups = filter(None, [first_argument(gather.node, "groups")])
    syntax = gather.syntax
    made = made_from(syntax, syntax.owner(gather.node), groups)
    loops = {node.iter for node in made if isinstance(node, ast.comprehension)}
    return {dotted(each) for each in loops} - {None}


def _indexed(code: Code, call: ast.Call) -> Iterator[ast.expr]:
    """Yield what is indexed by the numbers of a loop over ``enumerate``."""
    loop = code.syntax.parents.get(call)
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Tuple):
        return
    number = dotted(loop.target.elts[0])
    for node in code.blocks.inside(loop):
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Load)
            and isinstance(node.slice, ast.Name)
            and node.slice.id == number
        ):
            yield node.value
