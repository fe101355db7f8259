"""A judge's call is recorded, so the policy judges itself and trains on its verdicts

``recorded(...)`` sends a call to the model in training and puts the completion on the
trajectory. If it wraps the call of a judge, grader or guard, the policy plays that part: it
judges itself, and its verdicts are trained as if they were the agent's turns.

Remove the hook, or adapt the agent again with ``--auxiliary FUNCTION``.

Evidence: art_recording.py, ``recorded``; measured in tests/rehearsal (the finding "judge").
"""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.calls.roles import Role, stated_role

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
        role, reason = stated_role(call, code.completions.calls)
        if role is Role.AUXILIARY and code.decided_role(call) is Role.AUXILIARY:
            yield found(
                call.callee,
                f"the model in training acts as a judge and is trained on its verdicts ({reason}): "
                "remove the hook",
            )
