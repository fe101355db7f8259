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

from art_adapt.code.nodes import dotted, keyword, last_name, receiver, targets_of
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
    """\
import asyncio

import art
from art.rewards import ruler_score_group

class Stage:
    async def score(self, group):
        return await ruler_score_group(group, "openai/o4-mini", swallow_exceptions=True)  # <-

    async def __call__(self, groups):
        return list(await asyncio.gather(*(self.score(each) for each in groups)))

async def step(backend, model, groups):
    stage = Stage()
    judged = await stage(groups)
    await backend.train(model, judged)
""",
)
GOOD = (
    """\
import asyncio

import art
from art.rewards import ruler_score_group

async def score(group):
    return await ruler_score_group(group, "openai/o4-mini", swallow_exceptions=True)

async def step(backend, model, groups):
    judged = await asyncio.gather(*(score(each) for each in groups))
    await backend.train(model, [each for each in judged if each is not None])
""",
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
        for each in code.callers(awaited):
            waiting = code.syntax.parents[each]
            if isinstance(waiting, ast.Await) and _is_kept(code, waiting, deepest - 1):
                return True
            gathered = _gathered(code, waiting)
            if gathered is not None and _list_is_kept(code, gathered, deepest - 1):
                return True
        return False
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


def _gathered(code: Code, members: ast.AST) -> ast.Await | None:
    """Return where ``gather(*(score(group) for group in groups))`` is awaited."""
    if not isinstance(members, ast.GeneratorExp | ast.ListComp):
        return None
    call = code.syntax.parents[code.syntax.parents[members]]
    if not isinstance(call, ast.Call) or last_name(call.func) != "gather":
        return None
    awaited = code.syntax.parents[call]
    return awaited if isinstance(awaited, ast.Await) else None


def _list_is_kept(code: Code, several: ast.expr, deepest: int) -> bool:
    """Return whether a list of results gets a name, here or where it is returned, and no filter."""
    parent = code.syntax.parents[several]
    if isinstance(parent, ast.Call) and dotted(parent.func) == "list":
        return _list_is_kept(code, parent, deepest)
    if isinstance(parent, ast.Return) and deepest:
        around = [code.syntax.parents[each] for each in _callers(code, several)]
        return any(
            isinstance(each, ast.Await) and _list_is_kept(code, each, deepest - 1)
            for each in around
        )
    name = _assigned(parent)
    return name is not None and not _is_filtered(code, parent, name)


def _callers(code: Code, node: ast.AST) -> list[ast.Call]:
    """Return the calls of the function around a node, also of an object: ``stage(groups)``."""
    owner, _, name = code.syntax.owner(node).rpartition(".")
    if name != "__call__":
        return code.callers(node)
    return [
        call
        for call in code.calls
        if any(
            isinstance(each.node, ast.Call) and dotted(each.node.func) == owner
            for each in code.values(call.func)
        )
    ]


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
