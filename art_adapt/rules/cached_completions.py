"""The policy's completions are cached, so rollouts repeat an earlier model's output

A cache gives all rollouts of a group the same completion, and after a training step it still
returns what the previous weights sampled: ART trains on tokens that another policy sampled.

Evidence: measured, see docs/recording.md (litellm's cache gave every rollout of a group the
same completion).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from art_adapt.code.nodes import last_name
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.words import CACHES

RULE = Rule("ART405", "cached-completions", Severity.GARBAGE)
BAD = (
    """\
import art, functools

@functools.lru_cache
def ask(question):
    return client.chat.completions.create(model="m", messages=[question])  # <-

async def rollout(model, scenario):
    return art.Trajectory(messages_and_choices=[ask(scenario).choices[0]])
""",
)
GOOD = (
    """\
import art, functools

@functools.lru_cache
def look_up(word):
    return TABLE[word]

async def rollout(client, model, scenario):
    answer = await client.chat.completions.create(model="m", messages=[look_up(scenario)])
    return art.Trajectory(messages_and_choices=[answer.choices[0]])
""",
)


LITELLM = re.compile(r"litellm\.cache\b|enable_cache\(")


def check(code: Code) -> Iterator[Found]:
    source = code.source.text
    for call in code.completions.calls:
        function = code.function_of(call.callee)
        if function is None or not code.completions.may_be_trained(call):
            continue
        if not code.trajectories.in_episode(call.callee):
            continue
        caching = code.completions.argument(call, "caching")
        if caching is not None and caching.constant is True and LITELLM.search(source):
            yield found(
                caching.at,
                "litellm's cache gives every rollout of a group the same completion, and "
                "later steps the completions of older weights",
            )
        for decorator in function.node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = last_name(called)
            if name in CACHES:
                yield found(
                    call.callee,
                    f"@{name} gives every rollout of a group the same completion, and "
                    "later steps the completions of older weights",
                )
