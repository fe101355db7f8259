"""Plans with litellm's sync call, then works with the async one."""

import json

import litellm

MODEL = "openai/gpt-4o-mini"
DEPTHS = {"Como": 425, "Garda": 346}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "depth",
            "parameters": {
                "type": "object",
                "properties": {"lake": {"type": "string"}},
            },
        },
    }
]


def plan(question: str) -> str:
    response = litellm.completion(
        model=MODEL,
        messages=[{"role": "user", "content": f"In one line, how: {question}"}],
    )
    return response.choices[0].message.content


async def answer(question: str) -> str:
    messages = [
        {"role": "system", "content": plan(question)},
        {"role": "user", "content": question},
    ]
    while True:
        response = await litellm.acompletion(
            model=MODEL, messages=messages, tools=TOOLS
        )
        message = response.choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message.model_dump())
        for call in message.tool_calls:
            lake = json.loads(call.function.arguments)["lake"]
            messages.append(
                {
                    "role": "tool",
                    "tool_call_id": call.id,
                    "content": str(DEPTHS.get(lake, "unknown")),
                }
            )
