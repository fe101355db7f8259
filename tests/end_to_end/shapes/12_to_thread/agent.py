"""An async agent with a sync client: the calls go to threads."""

import asyncio
import json

from openai import OpenAI

client = OpenAI()
STOCK = {"bolt": 40, "nut": 12}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "stock",
            "parameters": {
                "type": "object",
                "properties": {"part": {"type": "string"}},
            },
        },
    }
]


def complete(messages: list[dict]) -> dict:
    response = client.chat.completions.create(
        model="gpt-4o-mini", messages=messages, tools=TOOLS
    )
    return response.choices[0].message.model_dump(exclude_none=True)


async def answer(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    while True:
        message = await asyncio.to_thread(complete, messages)
        messages.append(message)
        if "tool_calls" not in message:
            return message["content"]
        for call in message["tool_calls"]:
            asked = json.loads(call["function"]["arguments"])["part"]
            messages.append(
                {
                    "role": "tool",
                    "tool_call_id": call["id"],
                    "content": str(STOCK.get(asked, 0)),
                }
            )
