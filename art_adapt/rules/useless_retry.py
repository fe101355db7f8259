"""art.retry waits for errors that a completion call does not raise, so nothing is tried again

``@art.retry(exceptions=(openai.LengthFinishReasonError, requests.ReadTimeout))`` looks like a
guard against a weak endpoint. But ``chat.completions.create`` raises no LengthFinishReasonError,
which only ``parse`` does, and the OpenAI client no error of ``requests``: a timeout fails the episode
at once.

Retry what the client raises: ``openai.APITimeoutError``, ``openai.APIConnectionError``,
``openai.RateLimitError``.

Evidence: openai 2, lib/_parsing/_completions.py (parse_chat_completion raises
LengthFinishReasonError) and _base_client.py (APITimeoutError, APIConnectionError); art 0.5.18,
utils/retry.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import keyword
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART534", "useless-retry", Severity.WASTE)
BAD = (
    """\
import art, openai, requests

@art.retry(exceptions=(openai.LengthFinishReasonError, requests.ReadTimeout))  # <-
async def rollout(model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[scenario])
    response = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
)
GOOD = (
    BAD[0]
    .replace("requests.ReadTimeout", "openai.APITimeoutError")
    .replace("  # <-", ""),
    """\
import art, requests

@art.retry(exceptions=(requests.ReadTimeout,))
async def look_up(page):
    return requests.get(page, timeout=5).text
""",
)


def check(code: Code) -> Iterator[Found]:
    for call in code.art_calls("retry"):
        given = keyword(call, "exceptions")
        caught = given.elts if isinstance(given, ast.Tuple | ast.List) else [given]
        function = code.syntax.parents.get(call)
        if (
            given is not None
            and caught
            and isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
            and all(each and _is_never_raised(code, each, function) for each in caught)
        ):
            yield found(
                call,
                "nothing in this function raises these errors: a request that times out fails "
                "the episode at once; retry openai.APITimeoutError and the like",
            )


def _is_never_raised(
    code: Code, error: ast.expr, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> bool:
    """Return whether a function only asks the OpenAI client, which does not raise the error."""
    name = code.syntax.qualified(error) or ""
    inside = list(ast.walk(function))
    if not any(code.completions.asks(node) for node in inside):
        return False
    for node in inside:
        if isinstance(node, ast.Call):
            called = code.flow.functions.called(code.syntax, node.func)
            if called is not None and called[0] is not code.syntax:
                return False  # what it raises is not looked at
    nodes = code.syntax.nodes  # what it calls may stand elsewhere in the file
    if name == "openai.LengthFinishReasonError":
        return not any(
            isinstance(n, ast.Attribute) and n.attr == "parse" for n in nodes
        )
    return name.startswith("requests.") and not any(
        isinstance(node, ast.Call)
        and (code.syntax.qualified(node.func) or "").startswith("requests.")
        for node in nodes
    )
