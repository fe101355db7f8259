"""A library desk that streams its words and puts its tool calls together."""

import json

from openai import OpenAI

SHELVES = {"Emma": "B2", "Ulysses": "C7"}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "shelf",
            "parameters": {
                "type": "object",
                "properties": {"title": {"type": "string"}},
            },
        },
    }
]

client = OpenAI()


def shelf(title: str) -> str:
    return SHELVES.get(title, "not in stock")


def ask(question: str) -> str:
    messages: list[dict] = [{"role": "user", "content": question}]
    while True:
        text, calls = "", {}
        for chunk in client.chat.completions.create(
            model="gpt-4o", messages=messages, tools=TOOLS, stream=True
        ):
            delta = chunk.choices[0].delta
            if delta.content:
                text += delta.content
                print(delta.content, end="", flush=True)
            for part in delta.tool_calls or []:
                call = calls.setdefault(
                    part.index,
                    {"id": part.id, "type": "function", "function": {}},
                )
                function = call["function"]
                if part.function.name:
                    function["name"] = part.function.name
                function["arguments"] = function.get("arguments", "") + (
                    part.function.arguments or ""
                )
        if not calls:
            return text
        messages.append(
            {
                "role": "assistant",
                "content": text or None,
                "tool_calls": list(calls.values()),
            }
        )
        for call in calls.values():
            result = shelf(**json.loads(call["function"]["arguments"]))
            messages.append(
                {"role": "tool", "tool_call_id": call["id"], "content": result}
            )
