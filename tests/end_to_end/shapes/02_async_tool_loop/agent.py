"""Looks up train times before it answers."""

import json

from openai import AsyncOpenAI

TIMES = {"Ulm": "08:12", "Bonn": "09:40"}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "next_train",
            "parameters": {
                "type": "object",
                "properties": {"to": {"type": "string"}},
                "required": ["to"],
            },
        },
    }
]

client = AsyncOpenAI()


async def next_train(to: str) -> str:
    return TIMES.get(to, "none today")


async def answer(question: str) -> str | None:
    messages = [{"role": "user", "content": question}]
    for _ in range(8):
        response = await client.chat.completions.create(
            model="gpt-4o-mini", messages=messages, tools=TOOLS, temperature=0.3
        )
        message = response.choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message.model_dump(exclude_unset=True))
        for call in message.tool_calls:
            result = await next_train(**json.loads(call.function.arguments))
            messages.append(
                {"role": "tool", "tool_call_id": call.id, "content": result}
            )
    return None
