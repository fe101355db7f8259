SCOUT = "You are a scout"
# Four at once come in no particular order: rules answer them.
CONCURRENT = True
REPLIES = [
    {
        "when": {"messages": f"{SCOUT}(?s:.*)'role': 'tool'"},
        "content": "Worth a visit.",
    },
    *[
        {
            "when": {"messages": f"{SCOUT}(?s:.*){city}"},
            "tool_calls": [{"name": "weather", "arguments": {"city": city}}],
        }
        for city in ("Oslo", "Rome", "Bern", "Cork")
    ],
    {"content": "Oslo, Rome, Bern, Cork"},
    {"content": "Go to Rome."},
]


async def episode() -> str:
    from agent import plan

    return await plan("Where shall I go in May?")
