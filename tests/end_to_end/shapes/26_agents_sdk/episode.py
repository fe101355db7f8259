EVERY_CLIENT = True
REPLIES = [
    {"tool_calls": [{"name": "depth", "arguments": {"lake": "Como"}}]},
    {"tool_calls": [{"name": "transfer_to_writer", "arguments": {}}]},
    {"content": "Lake Como is 425 metres deep."},
]


async def episode() -> str:
    from agent import answer

    return await answer("How deep is Lake Como?")
