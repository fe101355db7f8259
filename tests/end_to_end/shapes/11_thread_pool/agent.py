"""Checks two parts at once, each in a thread with a tool loop of its own."""

import json
from concurrent.futures import ThreadPoolExecutor

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


def check(part: str) -> str:
    messages = [
        {"role": "system", "content": "You keep the stock."},
        {"role": "user", "content": f"Do we need more of: {part}?"},
    ]
    while True:
        response = client.chat.completions.create(
            model="gpt-4o-mini", messages=messages, tools=TOOLS
        )
        message = response.choices[0].message
        if not message.tool_calls:
            return f"{part}: {message.content}"
        messages.append(message)
        for call in message.tool_calls:
            asked = json.loads(call.function.arguments)["part"]
            messages.append(
                {
                    "role": "tool",
                    "tool_call_id": call.id,
                    "content": str(STOCK.get(asked, 0)),
                }
            )


def answer(question: str) -> str:
    parts = [part for part in STOCK if part in question]
    with ThreadPoolExecutor(max_workers=2) as pool:
        futures = [pool.submit(check, part) for part in parts]
    return "; ".join(future.result() for future in futures)
