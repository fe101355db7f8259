"""An assistant turn is put back without its tool calls, so the next request sends a different conversation

The agent appends the model's turn to its messages as a dict with ``role`` and ``content``, and the
tool messages after it. The next request has tool messages that answer nothing: the engine rejects
it or shows the model a conversation that it did not have, and the recorder has to begin another
history, so that the turns before are trained without what came of them.

Append ``response.choices[0].message``, or put ``tool_calls`` into the dict.

Evidence: art_recording.py, ``recorded`` (a request continues the history that it begins with);
tests/recording (a rewritten turn begins another history).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import receiver
from art_adapt.rules.code import Code, Value, below
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART109", "lost-tool-calls", Severity.GARBAGE)
BAD = (
    """\
from art_recording import recorded

def chat(messages):
    while True:
        response = recorded(client.chat.completions.create)(
            model="m", messages=messages, tools=TOOLS
        )
        message = response.choices[0].message
        messages.append({"role": "assistant", "content": message.content})  # <-
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": run(call)})
""",
)
GOOD = (
    """\
from art_recording import recorded

def chat(messages):
    while True:
        response = recorded(client.chat.completions.create)(
            model="m", messages=messages, tools=TOOLS
        )
        message = response.choices[0].message
        if not message.tool_calls:
            messages.append({"role": "assistant", "content": message.content})
            return message.content
        messages.append(
            {"role": "assistant", "content": message.content, "tool_calls": message.tool_calls}
        )
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": run(call)})
""",
)


def check(code: Code) -> Iterator[Found]:
    if not any(call.recorded for call in code.completions.calls):
        return
    for call in code.calls:
        statement = code.syntax.parents.get(call)
        if not isinstance(statement, ast.Expr):
            continue
        answered = any(
            isinstance(node, ast.For) and code.sampled.are_tool_calls(node.iter)
            for node in below(code.blocks.after(statement))
        )
        if answered and any(_loses_calls(code, each) for each in _added(code, call)):
            yield found(
                call,
                "this turn goes back without its tool calls, so the tool messages after it "
                "answer nothing; append the message itself",
            )


def _added(code: Code, call: ast.Call) -> Iterator[Value]:
    """Yield what a call appends, itself or in a function of the project."""
    here = code.flow.here(call)
    body = code.entered(call)
    inside = (
        []
        if body is None
        else [Value(n, body.place) for n in body.nodes if isinstance(n, ast.Call)]
    )
    for made in (here, *inside):
        if isinstance(made.node, ast.Call) and receiver(made.node, "append"):
            yield from map(made.of, made.node.args[:1])


def _loses_calls(code: Code, message: Value) -> bool:
    """Return whether it is the model's turn as a dict, certainly without tool calls."""
    roles = {code.constant(each) for each in code.contents.item(message, "role").values}
    content = code.contents.item(message, "content").values
    calls = code.contents.item(message, "tool_calls")
    return (
        roles == {"assistant"}
        and any(code.sampled.behind(each) for each in content)
        and calls.known
        and not calls.values
    )
