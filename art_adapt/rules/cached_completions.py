"""The policy's completions are cached, so rollouts repeat an earlier model's output

A cache gives all rollouts of a group the same completion, and after a training step it still
returns what the previous weights sampled: ART trains on tokens that another policy sampled.

A chat model of ``art.langgraph`` that is cached is bound to the rollout that made it: what later
rollouts ask is put on that rollout's trajectory, and theirs stay empty.

Evidence: measured, see docs/recording.md (litellm's cache gave every rollout of a group the
same completion); art 0.5.18, langgraph/llm_wrapper.py:110-129 (the model keeps its logger).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from art_adapt.code.nodes import Function, decorator_names, dotted, last_name
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
    yield from _kept_models(code)
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


def _kept_models(code: Code) -> Iterator[Found]:
    """Yield the chat models of ``wrap_rollout`` that are kept for later rollouts."""
    if not any(code.trajectories.new):
        return
    for call in code.art_calls("init_chat_model"):
        function = code.function_of(call)
        if function is None:
            continue
        cached = any(each in CACHES for each in decorator_names(function.node))
        kept = function in code.wrapped_rollouts and _is_kept(code, function, call)
        if cached or kept:
            yield found(
                call,
                "this model writes to the log of the rollout that made it, and is kept for "
                "the others: one trajectory gets their turns, and theirs stay empty; make "
                "it in each rollout",
            )


def _is_kept(code: Code, function: Function, call: ast.Call) -> bool:
    """Return whether an object or the module keeps what is made, unless it has it already."""
    inner: ast.AST = call
    for outer in code.syntax.ancestors(call):
        if isinstance(inner, ast.Assign) and isinstance(outer, ast.If):
            target = inner.targets[0]
            place = target.value if isinstance(target, ast.Subscript) else target
            name = dotted(place) or ""
            tested = {dotted(node) for node in ast.walk(outer.test)}
            is_own = name.startswith("self.") and function.class_name is not None
            is_global = isinstance(place, ast.Name) and not code.syntax.is_local(
                name, function.qualname
            )
            return name in tested and (is_own or is_global)
        if isinstance(outer, ast.stmt):
            inner = outer
    return False
