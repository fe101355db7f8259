"""Tool calls get no tool message, so the model is trained on an invalid conversation

A choice with ``tool_calls`` is appended and the model is asked again, but no message with a
``tool_call_id`` answers it. OpenAI's API rejects such a request; vLLM renders a conversation
that no chat model has seen, and the model is trained on it.

Append ``{"role": "tool", "tool_call_id": call.id, "content": ...}`` for each call.

Evidence: the chat completions API (each tool call must be answered); art 0.5.18,
preprocessing/tokenize.py (the conversation is rendered with the model's chat template).
"""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART208", "unanswered-tool-calls", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(client, model):
    trajectory = art.Trajectory(tools=TOOLS)
    for _ in range(5):
        response = await client.chat.completions.create(
            model="m", messages=trajectory.messages(), tools=TOOLS
        )
        trajectory.messages_and_choices.append(response.choices[0])  # <-
        for call in response.choices[0].message.tool_calls or []:
            result = run(call)
            trajectory.messages_and_choices.append({"role": "user", "content": result})
    return trajectory
""",
)
GOOD = (
    BAD[0]
    .replace("  # <-", "")
    .replace('"role": "user"', '"role": "tool", "tool_call_id": call.id'),
)
ANSWERS = ("tool_call_id", "ToolMessage", "function_call_output")


def check(code: Code) -> Iterator[Found]:
    if (
        any(word in code.source.text for word in ANSWERS)
        or "tool_calls" not in code.source.text
    ):
        return
    if code.trajectories.extends_items:
        return
    looped = {
        code.syntax.owner(call.callee)
        for call in code.completions.of_policy
        if code.completions.argument(call, "tools") is not None
        and code.syntax.enclosing_loop(call.callee) is not None
    }
    for put in code.trajectories.puts:
        if code.syntax.owner(put.by) in looped and code.sampled.is_choice(put.value):
            yield found(
                put.value,
                "its tool calls are never answered with a tool_call_id: the model is "
                "sampled and trained on an invalid conversation",
            )
