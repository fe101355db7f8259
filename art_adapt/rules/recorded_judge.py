"""A judge's call is recorded

``recorded(...)`` sends a call to the model in training and puts what it says on the trajectory. A
judge, grader or guard behind it is then played by the policy: it judges itself, and its
verdicts are trained as if they were the agent's turns.

Take the hook off, or adapt the agent again with ``--auxiliary FUNCTION``.

Written down in: art_recording.py, ``recorded``; a measured run: tests/rehearsal (the finding
"judge").
"""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.roles import Role, role_of

RULE = Rule("ART108", "recorded-judge", Severity.GARBAGE)
BAD = (
    """\
from art_recording import recorded
from openai import OpenAI

client, judge_client = OpenAI(), OpenAI()

def answer(messages):
    return recorded(client.chat.completions.create)(model="m", messages=messages)

def rate(messages):
    return recorded(judge_client.chat.completions.create)(model="m", messages=messages)  # <-
""",
)
GOOD = (
    BAD[0]
    .replace(
        "recorded(judge_client.chat.completions.create)",
        "judge_client.chat.completions.create",
    )
    .replace("  # <-", ""),
)


def check(code: Code) -> Iterator[Found]:
    for call in code.completions.calls:
        if not call.recorded:
            continue
        role, reason = role_of(call, code.completions.calls)
        if role is Role.AUXILIARY:
            yield found(
                call.callee,
                f"a judge is played by the model in training and trained on ({reason}): take "
                "the hook off",
            )
