"""art.Trajectory(messages=...) is silently ignored, so the trajectory is empty

A trajectory has no field ``messages``, and ``art.Trajectory`` ignores unknown arguments: the
trajectory stays empty and trains nothing, but its reward still shifts the group's mean.

Pass ``messages_and_choices=``, with the sampled Choice in it.

Evidence: art 0.5.18, trajectories.py (pydantic ignores extra fields); art 0.5.23,
trajectories/__init__.py (the same).
"""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART209", "dropped-messages", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(model, messages):
    return art.Trajectory(messages=messages, reward=1.0)  # <-
""",
)
GOOD = (
    """\
import art

class Episode(art.Trajectory):
    messages: list = []

async def rollout(model, messages):
    Episode(messages=messages)
    return art.Trajectory(messages_and_choices=messages, reward=1.0)
""",
    """\
try:
    from art import Trajectory
except ImportError:
    class Trajectory:
        def __init__(self, messages): ...

def make(messages):
    return Trajectory(messages=messages)
""",
)


def check(code: Code) -> Iterator[Found]:
    for call in code.trajectories.new:
        given = code.contents.given(call, "messages")
        if given is not None and code.art_name(call.func) is not None:
            yield found(
                given,
                "art.Trajectory ignores messages=, so the trajectory is empty; pass "
                "messages_and_choices=",
            )
