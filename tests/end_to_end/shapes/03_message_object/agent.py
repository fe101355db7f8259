"""Converts currencies; the SDK's own message goes back into the list."""

import json
from typing import Any

from openai import OpenAI

RATES = {("EUR", "USD"): 1.1, ("EUR", "JPY"): 160.0}
CONVERT = {
    "type": "function",
    "function": {
        "name": "convert",
        "description": "Convert an amount of money.",
        "parameters": {
            "type": "object",
            "properties": {
                "amount": {"type": "number"},
                "source": {"type": "string"},
                "target": {"type": "string"},
            },
        },
    },
}


def convert(amount: float, source: str, target: str) -> float:
    return round(amount * RATES[source, target], 2)


def run(task: str) -> str:
    client = OpenAI()
    messages: list[Any] = [{"role": "user", "content": task}]
    while True:
        completion = client.chat.completions.create(
            model="gpt-4.1", messages=messages, tools=[CONVERT]
        )
        reply = completion.choices[0].message
        messages.append(reply)
        if not reply.tool_calls:
            return reply.content or ""
        for call in reply.tool_calls:
            value = convert(**json.loads(call.function.arguments))
            messages.append(
                {"role": "tool", "tool_call_id": call.id, "content": str(value)}
            )
