REPLIES = [
    {"tool_calls": [{"name": "length", "arguments": {"text": "strawberry"}}]},
    {"content": "It has ten letters."},
]


def episode() -> str:
    from agent import answer

    return answer("How many letters has strawberry?")
