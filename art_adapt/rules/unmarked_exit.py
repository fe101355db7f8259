"""An exit is not marked, so an episode that ends there has no recorded answer

Some answers of this function go through ``final_answer(...)`` and others do not. An episode
that ends with one of the others has no answer on its trajectory, and a reward that reads it
sees None: a right answer is scored as no answer.

Run ``art-adapt`` on the file again: it marks every exit but those that say that something failed.

Evidence: art_recording.py, ``final_answer``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import FunctionNode
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART309", "unmarked-exit", Severity.GARBAGE)
BAD = (
    """\
from art_recording import final_answer, recorded

def run(client, messages):
    for _ in range(5):
        response = recorded(client.chat.completions.create)(model="m", messages=messages)
        message = response.choices[0].message
        if not message.tool_calls:
            return final_answer(message.content)
    return message.content  # <-
""",
)
GOOD = (
    BAD[0].replace(
        "return message.content  # <-", "return final_answer(message.content)"
    ),
    """\
from art_recording import final_answer, recorded

def run(client, messages):
    if not messages:
        return None
    response = recorded(client.chat.completions.create)(model="m", messages=messages)
    return final_answer(response.choices[0].message.content)

def helper(text):
    return text
""",
    """\
from art_recording import final_answer, recorded

def run(client, messages):
    try:
        response = recorded(client.chat.completions.create)(model="m", messages=messages)
    except Exception as error:
        return f"LLM call error: {error}"
    return final_answer(response.choices[0].message.content)
""",
)


def check(code: Code) -> Iterator[Found]:
    if not code.is_adapted:
        return
    hooks = code.hooks("final_answer")
    returns: dict[str, list[ast.Return]] = {}
    for node in code.syntax.nodes:
        if isinstance(node, ast.Return):
            returns.setdefault(code.syntax.owner(node), []).append(node)
    for ends in returns.values():
        marked = [end for end in ends if _is_marked(end.value, hooks)]
        for end in ends if marked else ():
            if end in marked or not _is_answer(code, end.value):
                continue
            if _is_after_failure(code, end):
                continue  # adapting leaves it out as well
            assert end.value is not None
            yield found(
                end.value,
                "this answer is not recorded, unlike others of this function: an episode "
                "that ends here has no answer; run art-adapt again",
            )


def _is_after_failure(code: Code, end: ast.Return) -> bool:
    """Return whether a return says that something failed: a handler that asks no model has it."""
    for outer in code.syntax.ancestors(end):
        if isinstance(outer, FunctionNode):
            return False
        if isinstance(outer, ast.ExceptHandler):
            return not any(node in code.completions.by_call for node in ast.walk(outer))
    return False


def _is_marked(value: ast.expr | None, hooks: frozenset[str]) -> bool:
    return value is not None and any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in hooks
        for node in ast.walk(value)
    )


def _is_answer(code: Code, value: ast.expr | None) -> bool:
    """Return whether the value is text of the model or text for the user."""
    if value is None:
        return False
    if isinstance(value, ast.Constant):
        return isinstance(value.value, str) and " " in value.value
    return isinstance(value, ast.JoinedStr) or code.sampled.kind(value) is not None
