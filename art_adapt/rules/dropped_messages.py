"""Messages are silently dropped: art.Trajectory(messages=...), or messages().append(...)

A trajectory has no field ``messages``, and ``art.Trajectory`` ignores unknown arguments: the
trajectory stays empty and trains nothing, but its reward still shifts the group's mean.
``trajectory.messages()`` makes a new list each time: what is appended to it is neither sent nor
trained.

Pass ``messages_and_choices=``, with the sampled Choice in it, and append to that list.

Evidence: art 0.5.18, trajectories.py (pydantic ignores extra fields; messages() makes a list); art
0.5.23, trajectories/__init__.py (the same).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import receiver
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.words import GROWS_LIST

RULE = Rule("ART209", "dropped-messages", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(model, messages):
    return art.Trajectory(messages=messages, reward=1.0)  # <-
""",
    """\
import art

class Episode:
    def __init__(self, question):
        asked = {"role": "user", "content": question}
        self.traj = art.Trajectory(messages_and_choices=[asked])

    @property
    def transcript(self):
        return self.traj.messages()

    async def step(self, choice):
        self.traj.messages_and_choices.append(choice)
        for call in choice.message.tool_calls:
            told = await run(call)
            self.transcript.append({"role": "tool", "tool_call_id": call.id, "content": told})  # <-
            self.traj.messages().append({"role": "user", "content": "Go on."})  # <-
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
    """\
import art

async def ask(client, trajectory: art.Trajectory):
    asked = trajectory.messages()
    asked.append({"role": "user", "content": "Think first."})
    return await client.chat.completions.create(model="m", messages=asked)
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
    for call, grown in code.method_calls(*GROWS_LIST):
        is_read = code.flow.functions.read(code.flow.here(grown)) is not None
        made = code.values(grown) if is_read or isinstance(grown, ast.Call) else ()
        of = [receiver(each.node, "messages") for each in made]
        if of and all(
            each is not None and code.trajectories.is_one(each) for each in of
        ):
            yield found(
                call,
                "messages() makes a new list each time, so this is neither sent nor trained; append "
                "to messages_and_choices",
            )
