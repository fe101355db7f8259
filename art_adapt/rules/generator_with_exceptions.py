"""A group is made from a generator, so ART 0.5.18 loses its exceptions

ART 0.5.18 iterates over the members of a group twice, for the trajectories and for the
exceptions, and a generator is empty the second time. With the results of
``asyncio.gather(..., return_exceptions=True)``, every failed rollout disappears without being
counted. ART 0.5.20 and newer iterate once.

Pass a list.

Evidence: art 0.5.18, trajectories.py:143-172, where ``trajectories`` is iterated over twice.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import (
    dotted,
    first_argument,
    keyword,
)
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Fix, Found, Rule, Severity, TextEdit, end_of, found

RULE = Rule("ART521", "generator-with-exceptions", Severity.WASTE, until="0.5.20")
BAD = (
    """\
import art, asyncio

async def group(model, scenario):
    results = await asyncio.gather(
        *(rollout(model, scenario) for _ in range(8)), return_exceptions=True
    )
    return art.TrajectoryGroup(result for result in results)  # <-
""",
    """\
import art, asyncio

async def group(model, scenario):
    results = await asyncio.gather(*rollouts(model, scenario), return_exceptions=True)
    return art.TrajectoryGroup((r for r in results), metadata={"id": 1})  # <-
""",
)
GOOD = (
    BAD[0]
    .replace("  # <-", "")
    .replace("(result for result in results)", "([result for result in results])"),
    BAD[0].replace("  # <-", "").replace("return_exceptions=True", ""),
    BAD[0]
    .replace("  # <-", "")
    .replace("in results)", "in results if isinstance(result, art.Trajectory))"),
    BAD[0]
    .replace("  # <-", "")
    .replace(
        "    return art",
        "    if any(map(failed, results)):\n        raise Failed\n    return art",
    ),
    BAD[1]
    .replace("  # <-", "")
    .replace("metadata={", "exceptions=failed(results), metadata={"),
    """\
import art

async def group(model, scenario):
    return await art.TrajectoryGroup(rollout(model, scenario) for _ in range(8))
""",
)
FIXED = BAD[0].replace(
    "(result for result in results)", "([result for result in results])"
)


def check(code: Code) -> Iterator[Found]:
    for call in code.art_calls("TrajectoryGroup"):
        given = first_argument(call, "trajectories")
        if keyword(call, "exceptions") is not None:
            continue  # the failures are counted by hand
        if isinstance(given, ast.GeneratorExp) and _passes_failures(code, given):
            yield found(
                given,
                "ART 0.5.18 loses exceptions that come from a generator, so failed rollouts "
                "are not counted; pass a list",
                Fix("make it a list", _as_list(call, given)),
            )


def _passes_failures(code: Code, generator: ast.GeneratorExp) -> bool:
    """Return whether it yields the unfiltered results of a gather with exceptions."""
    each = generator.generators[0]
    if len(generator.generators) > 1 or each.ifs:
        return False
    if dotted(generator.elt) != dotted(each.target) or not dotted(each.target):
        return False
    values = code.syntax.values_of(each.iter) or [each.iter]
    return (
        len(values) == 1
        and _returns_exceptions(code, values[0])
        and set(code.reads(dotted(each.iter), each.iter)) <= {each.iter}
    )


def _returns_exceptions(code: Code, value: ast.expr) -> bool:
    if isinstance(value, ast.Await):
        value = value.value
    return (
        isinstance(value, ast.Call)
        and code.syntax.qualified(value.func) == "asyncio.gather"
        and code.constant(keyword(value, "return_exceptions")) is True
    )


def _as_list(call: ast.Call, generator: ast.GeneratorExp) -> tuple[TextEdit, ...]:
    """Turn the generator into a list; a sole argument shares the call's parentheses."""
    shared = end_of(call) == end_of(generator)
    line, column = generator.lineno, generator.col_offset
    last, end = end_of(generator)
    return (
        TextEdit((line, column), (line, column + 1), "([" if shared else "["),
        TextEdit((last, end - 1), (last, end), "])" if shared else "]"),
    )
