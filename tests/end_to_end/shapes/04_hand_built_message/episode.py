REPLIES = [
    {"tool_calls": [{"name": "price", "arguments": {"item": "milk"}}]},
    {"tool_calls": [{"name": "price", "arguments": {"item": "bread"}}]},
    {"content": "Together 3.70."},
]


def episode() -> str:
    from agent import chat

    return chat("What do milk and bread cost?")
