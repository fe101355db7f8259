"""A group that RULER could not score is None, and goes into training

With ``swallow_exceptions=True``, ``ruler_score_group`` returns None when the judge fails. Put into
the list that is trained on, the None ends the step with an AttributeError, after the rollouts of
all groups have been paid for.

Leave those groups out (``if judged is not None``), or score in ``after_each`` of the gather, which
drops them.

Evidence: art 0.5.18, rewards/ruler.py:351-355 and local/backend.py:848; art 0.5.23,
rewards/ruler.py:419-423 and local/backend.py:1591; in both, gather.py drops what ``after_each``
returns as None.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import dotted, keyword, receiver, targets_of
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART528", "unscored-group", Severity.WASTE)
BAD = (
    """\
import art
from art.rewards import ruler_score_group

async def judge(groups):
    judged = []
    for group in groups:
        scored = await ruler_score_group(group, "openai/o4-mini", swallow_exceptions=True)  # <-
        judged.append(scored)
    return judged
""",
    """\
import art
from art.rewards import ruler_score_group

async def step(backend, model, groups):
    groups = [
        await ruler_score_group(g, "openai/o4-mini", swallow_exceptions=True)  # <-
        for g in groups
    ]
    await backend.train(model, groups)
""",
    """\
import art
from art.rewards import ruler_score_group

class Scorer:
    async def score_group(self, group):
        return await ruler_score_group(group, "openai/o4-mini", swallow_exceptions=True)  # <-

class Trainer:
    def __init__(self):
        self.scorer = Scorer()

    async def step(self, groups):
        scored_groups = []
        for group in groups:
            scored = await self.scorer.score_group(group)
            scored_groups.append(scored)
        await self.backend.train(self.model, scored_groups)
""",
)
GOOD = (
    BAD[0]
    .replace("  # <-", "")
    .replace(
        "        judged.append",
        "        if scored is not None:\n            judged.append",
    ),
    BAD[1]
    .replace("  # <-", "")
    .replace(
        "    await backend",
        "    groups = [g for g in groups if g is not None]\n    await backend",
    ),
    """\
import art
from art.rewards import ruler_score_group

async def scored(group):
    return await ruler_score_group(group, "openai/o4-mini", swallow_exceptions=True)

async def every(groups):
    judged = [await scored(group) for group in groups]
    return [group for group in judged if group is not None]

async def gather(groups):
    return await art.gather_trajectory_groups(
        groups, after_each=lambda g: ruler_score_group(g, "openai/o4-mini", swallow_exceptions=True)
    )
""",
)


def check(code: Code) -> Iterator[Found]:
    for call in code.art_calls("ruler_score_group"):
        swallows = code.constant(keyword(call, "swallow_exceptions")) is True
        awaited = code.syntax.parents.get(call)
        if swallows and isinstance(awaited, ast.Await) and _is_kept(code, awaited):
            yield found(
                call,
                "this is None when the judge fails, and training on it raises: leave out "
                "None",
            )


def _is_kept(code: Code, awaited: ast.Await, deepest: int = 2) -> bool:
    """Return whether a list gets the result, and nothing asks whether it is None.

    A function may return it to those that call it.
    """
    parent = code.syntax.parents[awaited]
    if isinstance(parent, ast.Return) and deepest:
        waiting = [code.syntax.parents[each] for each in code.callers(awaited)]
        return any(
            isinstance(each, ast.Await) and _is_kept(code, each, deepest - 1)
            for each in waiting
        )
    if isinstance(parent, ast.ListComp):
        statement = code.syntax.parents[parent]
        name = _assigned(statement)
        return name is not None and not _is_filtered(code, statement, name)
    if (kept := receiver(parent, "append")) is not None:
        return not _is_filtered(code, parent, dotted(kept))
    name = _assigned(parent)
    if name is None:
        return False
    appends = [
        node
        for node in code.syntax.owned_by(code.syntax.owner(awaited))
        if isinstance(node, ast.Call)
        and receiver(node, "append")
        and name in map(dotted, node.args)
        and node.lineno > awaited.lineno
    ]
    return bool(appends) and not any(
        _is_filtered(code, each, given)
        for each in appends
        for given in (name, dotted(receiver(each, "append")))
    )


def _assigned(statement: ast.AST) -> str | None:
    return next(map(dotted, targets_of(statement)), None)


def _is_filtered(code: Code, node: ast.AST, name: str | None) -> bool:
    """Return whether the function asks something of a name, or goes through it with an if."""
    for each in code.syntax.owned_by(code.syntax.owner(node)):
        tests: list[ast.expr] = []
        if isinstance(each, ast.If | ast.IfExp | ast.While | ast.Assert):
            tests = [each.test]
        elif isinstance(each, ast.comprehension) and dotted(each.iter) == name:
            if each.ifs:
                return True
        elif isinstance(each, ast.Call) and dotted(each.func) == "filter":
            tests = each.args
        elif isinstance(each, ast.For) and dotted(each.iter) == name:
            return True  # it may look at each
        if any(dotted(part) == name for test in tests for part in ast.walk(test)):
            return True
    return False
