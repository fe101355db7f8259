"""An async agent from before asyncio.to_thread."""

import asyncio
import functools
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


async def answer(question: str) -> str:
    loop = asyncio.get_running_loop()
    messages = [{"role": "user", "content": question}]
    while True:
        response = await loop.run_in_executor(
            None,
            functools.partial(
                client.chat.completions.create,
                model="gpt-4o-mini",
                messages=messages,
                tools=TOOLS,
            ),
        )
        message = response.choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            asked = json.loads(call.function.arguments)["part"]
            messages.append(
                {
                    "role": "tool",
                    "tool_call_id": call.id,
                    "content": str(STOCK.get(asked, 0)),
                }
            )
