"""RULER is asked in the training loop and nothing catches its failure, so one failure ends the run

``ruler_score_group`` raises when the judge times out, is rate-limited or answers something that
cannot be parsed. In the loop that trains, the rollouts of the step are lost with the run.

Give it ``swallow_exceptions=True``, and leave out what is None; or catch the error, and go on
without the group.

Evidence: art 0.5.18, rewards/ruler.py:286-345; art 0.5.23, rewards/ruler.py:350-410
(swallow_exceptions is False unless it is given).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import given_to, keyword
from art_adapt.rules.code import Code
from art_adapt.rules.rule import (
    Fix,
    Found,
    Rule,
    Severity,
    TextEdit,
    end_of,
    found,
    insert_after,
    replace,
)

RULE = Rule("ART532", "unguarded-judge", Severity.WASTE)
BAD = (
    """\
import art
from art.rewards import ruler_score_group

async def train(model, backend, scenarios):
    for step in range(await model.get_step(), 50):
        groups = await art.gather_trajectory_groups([], max_exceptions=8)
        judged = []
        for group in groups:
            scored = await ruler_score_group(group, "openai/o3")  # <-
            judged.append(scored)
        await backend.train(model, judged)
""",
    """\
import art
from art.rewards import ruler_score_group

async def main(model, backend, groups_of, batches):
    try:
        for batch in batches:
            groups = await art.gather_trajectory_groups(groups_of(batch), max_exceptions=9)
            judged = [await ruler_score_group(group, "openai/o4-mini") for group in groups]  # <-
            await backend.train(model, judged)
    except Exception as error:
        print("training ended:", error)
    finally:
        await backend.close()
""",
)
GOOD = (
    """\
import art
from art.rewards import ruler_score_group

async def train(model, backend, scenarios):
    for step in range(await model.get_step(), 50):
        groups = await art.gather_trajectory_groups([], max_exceptions=8)
        judged = []
        for group in groups:
            scored = await ruler_score_group(group, "openai/o3", swallow_exceptions=True)
            if scored is not None:
                judged.append(scored)
        await backend.train(model, judged)
""",
    """\
import art
from art.rewards import ruler_score_group

async def train(model, backend, scenarios):
    for step in range(await model.get_step(), 50):
        groups = await art.gather_trajectory_groups(
            [], after_each=lambda group: ruler_score_group(group, "openai/o3")
        )
        judged = []
        for group in groups:
            try:
                judged.append(await ruler_score_group(group, "openai/o3"))
            except Exception as error:
                print(error)
        await backend.train(model, judged)
""",
    """\
import art
from art.rewards import ruler_score_group

async def main(model, backend, groups_of, batches):
    while await model.get_step() < 50:
        try:
            for batch in batches:
                groups = await art.gather_trajectory_groups(groups_of(batch), max_exceptions=9)
                judged = [await ruler_score_group(group, "openai/o4-mini") for group in groups]
                await backend.train(model, judged)
        except Exception as error:
            print("again, after", error)
""",
)


def check(code: Code) -> Iterator[Found]:
    for call in code.art_calls("ruler_score_group"):
        if (
            any(isinstance(n, ast.Await) for n in code.syntax.ancestors(call))
            and not any(each.arg is None for each in call.keywords)
            and not _swallows(code, call)
            and code.training.may_end(call)
        ):
            yield found(
                call,
                "one failure of the judge ends the run, and the step's rollouts are lost: pass "
                "swallow_exceptions=True, and drop the groups that come back as None",
                Fix("pass swallow_exceptions=True", (_swallowing(call),), safe=False),
            )


def _swallowing(call: ast.Call) -> TextEdit:
    """Return the edit that makes a call swallow exceptions: its argument changed, or one more."""
    given = keyword(call, "swallow_exceptions")
    if given is not None:
        return replace(given, "True")
    last = max(given_to(call), key=end_of)
    return insert_after(last, ", swallow_exceptions=True")


def _swallows(code: Code, call: ast.Call) -> bool:
    given = keyword(call, "swallow_exceptions")
    return given is not None and code.constant(given) is not False
