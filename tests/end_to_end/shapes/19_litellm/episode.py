REPLIES = [
    {"content": "Look up both depths and compare."},
    {"tool_calls": [{"name": "depth", "arguments": {"lake": "Como"}}]},
    {"tool_calls": [{"name": "depth", "arguments": {"lake": "Garda"}}]},
    {"content": "Lake Como is deeper."},
]


async def episode() -> str:
    from agent import answer

    return await answer("Is Lake Como deeper than Lake Garda?")
