"""Writes a reply with a tool, and lets a larger model judge it."""

import json

from openai import OpenAI

client = OpenAI()
JUDGE_MODEL = "gpt-4.1"
RULES = {"refund": "Refunds within 14 days.", "voucher": "Vouchers are valid a year."}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "rule",
            "parameters": {
                "type": "object",
                "properties": {"topic": {"type": "string"}},
            },
        },
    }
]


def judge(question: str, reply: str) -> bool:
    response = client.chat.completions.create(
        model=JUDGE_MODEL,
        messages=[
            {"role": "system", "content": "PASS or FAIL: is the reply polite?"},
            {"role": "user", "content": f"{question}\n---\n{reply}"},
        ],
        temperature=0,
    )
    return response.choices[0].message.content.startswith("PASS")


def draft(messages: list) -> str:
    while True:
        response = client.chat.completions.create(
            model="gpt-4o-mini", messages=messages, tools=TOOLS
        )
        message = response.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            topic = json.loads(call.function.arguments)["topic"]
            messages.append(
                {
                    "role": "tool",
                    "tool_call_id": call.id,
                    "content": RULES.get(topic, "no rule"),
                }
            )


def reply_to(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    reply = draft(messages)
    if not judge(question, reply):
        messages.append({"role": "user", "content": "More politely, please."})
        reply = draft(messages)
    return reply
