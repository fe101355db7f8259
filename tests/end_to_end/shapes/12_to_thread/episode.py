REPLIES = [
    {"tool_calls": [{"name": "stock", "arguments": {"part": "bolt"}}]},
    {"tool_calls": [{"name": "stock", "arguments": {"part": "nut"}}]},
    {"content": "40 bolts and 12 nuts."},
]


async def episode() -> str:
    from agent import answer

    return await answer("How many bolts and nuts are there?")
