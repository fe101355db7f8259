"""A model call has no hook, so rollouts send it to the production model unrecorded

In a file that art-adapt has adapted, a completion call without its hook goes to the production
model, even in a rollout: the model in training never sees that turn, and the episode's reward
is given for what another model said.

Run ``art-adapt`` on the file again to add the missing hook, or mark the call as not to be
trained with the comment ``# art: auxiliary``.

Evidence: art_recording.py, ``recorded`` (a call reaches the model in training through its
hook); tests/end_to_end.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from art_adapt.recorded_requests import trains_on_requests
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.calls.roles import Role
from art_adapt.train_file import standing_module, train_module_path

RULE = Rule("ART101", "unrecorded-call", Severity.GARBAGE)
BAD = (
    """\
from art_recording import recorded
from openai import OpenAI

client = OpenAI()

def plan(messages):
    return recorded(client.chat.completions.create)(model="m", messages=messages)

def answer(messages):
    return client.chat.completions.create(model="m", messages=messages)  # <-
""",
    """\
from art_recording import final_answer
from openai import OpenAI

client = OpenAI()

def answer(question):
    messages = [{"role": "user", "content": question}]
    reply = client.chat.completions.create(model="m", messages=messages)  # <-
    return final_answer(reply.choices[0].message.content)
""",
    """\
from art_recording import recorded
from openai import OpenAI

client = OpenAI()
create = client.chat.completions.create  # <-

def plan(messages):
    return recorded(client.chat.completions.create)(model="m", messages=messages)

def answer(messages):
    return create(model="m", messages=messages)
""",
)
GOOD = (
    """\
import json
from art_recording import final_answer, recorded
from openai import OpenAI

client = OpenAI()

def run(question):
    messages = [{"role": "user", "content": question}]
    for _ in range(5):
        reply = recorded(client.chat.completions.create)(model="m", messages=messages, tools=[])
        message = reply.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return final_answer(message.content)
        for call in message.tool_calls:
            found = critic(call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": found})

def critic(text):
    asked = [{"role": "user", "content": text}]
    return client.chat.completions.create(model="m", messages=asked).choices[0].message.content
""",
    """\
from art_recording import recorded
from openai import OpenAI

client = OpenAI()

def plan(messages):
    return recorded(client.chat.completions.create)(model="m", messages=messages)

def judge(messages):
    return client.chat.completions.create(model="judge", messages=messages)  # art: auxiliary
""",
)


def check(code: Code) -> Iterator[Found]:
    if not code.is_adapted and not _is_trained(code.syntax.source.path):
        return
    for call in code.completions.calls:
        if call.recorded or not call.supported:
            continue
        if code.decided_role(call) is Role.POLICY:
            yield found(
                call.callee,
                "this call is not recorded: in a rollout it goes to the production model; "
                "run art-adapt again; if it is no turn of the agent, add the comment "
                "'# art: auxiliary' first",
            )


def _is_trained(agent: Path) -> bool:
    """Return whether a train module of art-adapt lies beside the file, and runs it."""
    is_there = standing_module(agent) is not None
    return is_there and not trains_on_requests(train_module_path(agent))
