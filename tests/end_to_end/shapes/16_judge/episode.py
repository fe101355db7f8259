AUXILIARY_MODEL = "gpt-4.1"
REPLIES = [
    {"when": {"model": r"^gpt-4\.1$"}, "content": "FAIL: curt."},
    {"tool_calls": [{"name": "rule", "arguments": {"topic": "refund"}}]},
    {"content": "14 days."},
    {"content": "You can return it within 14 days, and gladly."},
]


def episode() -> str:
    from agent import reply_to

    return reply_to("Can I give it back?")
