EXPLAINED = "the OpenAI Agents SDK"
REPLIES = [
    {"tool_calls": [{"name": "opening_hours", "arguments": {"day": "Sunday"}}]},
    {"content": "We are closed on Sundays."},
]


def episode() -> str:
    from agent import answer

    return answer("Are you open on Sunday?")
