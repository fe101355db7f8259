REPLIES = [
    {"tool_calls": [{"name": "phone", "arguments": {"name": "Ada"}}]},
    {"tool_calls": [{"name": "phone", "arguments": {"name": "Kurt"}}]},
    {"content": "Ada has 12, Kurt has 17."},
]


def episode() -> str:
    from agent import answer

    return answer("What are the extensions of Ada and Kurt?")
