"""The conversation is given as messages=, which no trajectory has

``art.Trajectory(messages=...)`` takes the argument and drops it without a word: the trajectory is
empty, trains nothing, and its reward still moves the group's mean.

It is ``messages_and_choices=``, with the Choice that was sampled in it.

Written down in: art 0.5.18, trajectories.py (pydantic, extra fields ignored); art 0.5.23,
trajectories/__init__.py (the same).
"""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.syntax import keyword

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
        given = keyword(call, "messages")
        if given is not None and code.art_name(call.func) is not None:
            yield found(
                given,
                "a trajectory has no messages=: they are dropped, and it is empty; say "
                "messages_and_choices=",
            )
