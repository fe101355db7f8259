"""Books rooms; parses the tools' arguments and writes them anew."""

import json

from openai import OpenAI

FREE = {"Oak": ["10:00", "14:00"], "Elm": []}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "free_slots",
            "description": "When a room is free.",
            "parameters": {
                "type": "object",
                "properties": {
                    "room": {"type": "string"},
                    "day": {"type": "string"},
                },
            },
        },
    }
]

client = OpenAI()


def free_slots(room: str, day: str) -> str:
    return ", ".join(FREE.get(room, [])) or f"nothing on {day}"


def answer(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    while True:
        response = client.chat.completions.create(
            model="gpt-4o-mini", messages=messages, tools=TOOLS
        )
        message = response.choices[0].message
        if not message.tool_calls:
            return message.content
        turn = {"role": "assistant", "content": message.content, "tool_calls": []}
        messages.append(turn)
        for call in message.tool_calls:
            arguments = json.loads(call.function.arguments)
            function = {
                "name": call.function.name,
                "arguments": json.dumps(arguments, separators=(",", ":")),
            }
            turn["tool_calls"].append(
                {"id": call.id, "type": "function", "function": function}
            )
            messages.append(
                {
                    "role": "tool",
                    "tool_call_id": call.id,
                    "content": free_slots(**arguments),
                }
            )
