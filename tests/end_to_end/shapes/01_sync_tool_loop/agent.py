"""Answers questions about an order with two tools."""

import json

from openai import OpenAI

ORDERS = {"A-17": "shipped on 3 May with DHL", "A-18": "waiting for payment"}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "order_status",
            "description": "The state of an order.",
            "parameters": {
                "type": "object",
                "properties": {"order": {"type": "string"}},
                "required": ["order"],
            },
        },
    }
]

client = OpenAI()


def order_status(order: str) -> str:
    return ORDERS.get(order, "no such order")


def answer(question: str) -> str:
    messages = [
        {"role": "system", "content": "You are the support desk of a shop."},
        {"role": "user", "content": question},
    ]
    while True:
        response = client.chat.completions.create(
            model="gpt-4o-mini", messages=messages, tools=TOOLS
        )
        message = response.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            result = order_status(**json.loads(call.function.arguments))
            messages.append(
                {"role": "tool", "tool_call_id": call.id, "content": result}
            )
