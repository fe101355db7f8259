"""The result of RULER is discarded, so training uses the old rewards

``ruler_score_group`` builds a new group of new trajectories and does not change the given one.
If its result is not used, or only counted and changed, training uses the previous rewards: 0.0
if none were set.

Train on what it returns: ``groups = [await ruler_score_group(g) for g in groups]``, or
``after_each=lambda group: ruler_score_group(group, judge)``.

Evidence: art 0.5.18, rewards/ruler.py:314-330 and 365; art 0.5.23, rewards/ruler.py:379-396
and 433.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import (
    awaited,
    dotted,
    first_argument,
    last_name,
)
from art_adapt.rules.code import Code, Value
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART504", "dropped-ruler-scores", Severity.GARBAGE)
BAD = (
    """\
import art
from art.rewards import ruler_score_group

async def score(groups):
    for group in groups:
        await ruler_score_group(group, "openai/o3")  # <-
    return groups
""",
    """\
import art
from art.rewards import ruler_score_group

async def score(groups):
    for group in groups:
        judged = await ruler_score_group(group, "openai/o3")  # <-
    return groups
""",
    """\
import art
from art.rewards import ruler_score_group

async def step(model, backend, scenarios, rollout):
    groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(model, s) for _ in range(8)) for s in scenarios
    )
    for group in groups:
        judged = await ruler_score_group(group, "openai/o3")  # <-
        for old, new in zip(group, judged.trajectories, strict=True):
            new.reward = 0.7 * old.reward + 0.3 * new.reward
    await backend.train(model, groups)
""",
    """\
import art
from art.rewards import ruler_score_group

async def judge(group):
    judged = await ruler_score_group(group, "openai/o3", swallow_exceptions=True)
    return judged

async def step(model, backend, scenarios, rollout):
    groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(model, s) for _ in range(8)) for s in scenarios
    )
    for group in groups:
        await judge(group)  # <-
    await backend.train(model, groups)
""",
    """\
import art
from art.rewards import ruler_score_group

class Judge:
    def __init__(self, model):
        self.model, self.skipped = model, 0

    async def __call__(self, group: art.TrajectoryGroup):
        judged = await ruler_score_group(group, self.model, swallow_exceptions=True)  # <-
        if judged is None:
            self.skipped += 1
            return None
        group.metrics["judged"] = len(judged)
        return group

async def step(model, backend, rollouts):
    groups = await art.gather_trajectory_groups(rollouts, after_each=Judge("openai/o3"))
    await backend.train(model, groups)
""",
)
GOOD = (
    """\
import art
from art.rewards import ruler_score_group

async def show(good, bad):
    judged = await ruler_score_group(art.TrajectoryGroup([good, bad]), "openai/o3")
    for trajectory in sorted(judged.trajectories, key=lambda t: t.reward):
        print(trajectory.reward)
""",
    """\
import art
from art.rewards import ruler_score_group

async def score(groups):
    for group in groups:
        scored = await ruler_score_group(group, "openai/o3")
        for old, new in zip(group, scored, strict=True):
            old.reward += 0.3 * new.reward
    return groups
""",
    """\
import art
from art.rewards import ruler_score_group

async def score(groups):
    judged = []
    for group in groups:
        scored = await ruler_score_group(group, "openai/o3")
        judged.append(scored)
    return judged
""",
    """\
import art
from art.rewards import ruler_score_group

async def judge(group):
    judged = await ruler_score_group(group, "openai/o3", swallow_exceptions=True)
    for old, new in zip(group, judged or ()):
        old.reward = new.reward
    return judged

async def score(groups):
    for group in groups:
        await judge(group)
    return [await judge(group) for group in groups]
""",
)

MESSAGE = (
    "ruler_score_group returns a new group and does not change this one: the scores are "
    "lost; train on the group it returns"
)
# Calls that run what they are given.
RUNNING = ("gather", "create_task", "ensure_future", "wait_for", "shield", "run")


def check(code: Code) -> Iterator[Found]:
    partials = {
        name
        for name, written in code.syntax.assignments.items()
        for _, value in written
        if isinstance(value, ast.Call)
        and last_name(value.func) == "partial"
        and value.args
        and (code.art_name(value.args[0]) or "").endswith(".ruler_score_group")
    }
    for call in code.calls:
        named = code.art_name(call.func) or ""
        judges = (
            named.endswith(".ruler_score_group")
            or dotted(call.func) in partials
            or _gives_what_ruler_gives(code, call)
        )
        if judges and _is_dropped(code, call):
            yield found(call, MESSAGE)


def _gives_what_ruler_gives(code: Code, call: ast.Call) -> bool:
    """Return whether a function of the project is called that only returns what RULER returned."""
    body = code.entered(call)
    if body is None or any(_sets_reward(node) for node in body.nodes):
        return False
    returned = [n.value for n in body.nodes if isinstance(n, ast.Return) and n.value]
    made = [
        awaited(v.node)
        for each in returned
        for v in code.values(Value(each, body.place))
    ]
    return bool(made) and all(
        isinstance(each, ast.Call) and last_name(each.func) == "ruler_score_group"
        for each in made
    )


def _sets_reward(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "reward"
        and isinstance(node.ctx, ast.Store)
    )


def _is_dropped(code: Code, call: ast.expr) -> bool:
    """Return whether nothing gets the scores of a call that is run.

    It may be gathered later, by the name of a list of such calls.
    """
    run = False
    for outer in code.syntax.ancestors(call):
        if isinstance(outer, ast.Await):
            run = True
        elif isinstance(outer, ast.Call):
            name = (dotted(outer.func) or ast.unparse(outer.func)).rpartition(".")[2]
            if name not in RUNNING:
                break
            run = run or name == "create_task"
        elif isinstance(outer, ast.Assign) and not run:
            uses = code.reads(dotted(outer.targets[0]), outer)
            return bool(uses) and all(_is_dropped(code, use) for use in uses)
        elif isinstance(outer, ast.stmt):
            break
    return run and _are_lost(code, call)


def _are_lost(code: Code, call: ast.expr) -> bool:
    """Return whether scores are lost: not read at all, or of groups that are trained without them.

    A group that is only evaluated may be judged for what is printed.
    """
    use = code.uses.of(call)
    if not use.is_lost or not (use.is_read or use.is_shown):
        return use.is_lost
    given = first_argument(call, "group") if isinstance(call, ast.Call) else None
    if given is None:
        return False
    if any(
        isinstance(node, ast.Return) and dotted(node.value) == dotted(given)
        for node in code.syntax.owned_by(code.syntax.owner(call))
    ):
        return dotted(given) is not None  # an after_each gives back what it was given
    return not code.training.groups.isdisjoint(code.training.made_as([given]))
