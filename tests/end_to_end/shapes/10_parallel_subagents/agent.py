"""A planner sends four scouts out at once, each with a tool loop of its own."""

import asyncio
import json

from openai import AsyncOpenAI

client = AsyncOpenAI()
WEATHER = {"Oslo": "rain", "Rome": "sun", "Bern": "fog", "Cork": "wind"}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
            },
        },
    }
]


async def scout(city: str) -> str:
    messages = [
        {"role": "system", "content": "You are a scout. Check the weather."},
        {"role": "user", "content": city},
    ]
    while True:
        response = await client.chat.completions.create(
            model="gpt-4o-mini", messages=messages, tools=TOOLS
        )
        message = response.choices[0].message
        if not message.tool_calls:
            return message.content or ""
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            place = json.loads(call.function.arguments)["city"]
            messages.append(
                {
                    "role": "tool",
                    "tool_call_id": call.id,
                    "content": WEATHER.get(place, "unknown"),
                }
            )


async def plan(question: str) -> str:
    messages = [
        {"role": "system", "content": "You plan trips. Name cities first."},
        {"role": "user", "content": question},
    ]
    response = await client.chat.completions.create(
        model="gpt-4o-mini", messages=messages
    )
    cities = response.choices[0].message.content.split(", ")
    reports = await asyncio.gather(*[scout(city) for city in cities])
    messages += [
        {"role": "assistant", "content": ", ".join(cities)},
        {"role": "user", "content": "\n".join(reports)},
    ]
    response = await client.chat.completions.create(
        model="gpt-4o-mini", messages=messages
    )
    return response.choices[0].message.content
