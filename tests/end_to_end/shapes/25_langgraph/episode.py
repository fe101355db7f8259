EVERY_CLIENT = True
REPLIES = [
    {"tool_calls": [{"name": "depth", "arguments": {"lake": "Como"}}]},
    {"tool_calls": [{"name": "depth", "arguments": {"lake": "Garda"}}]},
    {"content": "Lake Como is deeper."},
]


def episode() -> str:
    from agent import answer

    return answer("Is Lake Como deeper than Lake Garda?")
