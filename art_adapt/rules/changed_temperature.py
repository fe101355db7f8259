"""The train module samples at another temperature, so the importance weights are wrong

``training.record(temperature=...)`` is how all rollouts are sampled. ART's loss compares the
trainer's logprobs, at temperature 1, with those of the engine, which it reports before temperature
is applied: at any other temperature tokens get the wrong weight, and at 0 the rollouts of a group
are alike.

Leave ``TEMPERATURE = 1.0``.

Evidence: art 0.5.18 and 0.5.23, loss.py (the ratio of new to sampled logprobs).
"""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.code.nodes import keyword
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART406", "changed-temperature", Severity.GARBAGE)
BAD = (
    """\
from art_adapt import training

TEMPERATURE = 0.2

async def rollout(model, scenario):
    return await training.record(model, scenario, episode, temperature=TEMPERATURE)  # <-
""",
)
GOOD = (BAD[0].replace("0.2", "1.0").replace("  # <-", ""),)


def check(code: Code) -> Iterator[Found]:
    for call in code.recording_calls:
        given = keyword(call, "temperature")
        value = code.constant(given)
        if given is not None and isinstance(value, int | float) and value != 1:
            yield found(
                given,
                f"rollouts are sampled at temperature {value} but trained as if at 1: leave "
                "TEMPERATURE at 1.0",
            )
