REPLIES = [
    {"tool_calls": [{"name": "order_status", "arguments": {"order": "A-17"}}]},
    {"tool_calls": [{"name": "order_status", "arguments": {"order": "A-18"}}]},
    {"content": "A-17 is on its way; A-18 waits for your payment."},
]


def episode() -> str:
    from agent import answer

    return answer("Where are my orders A-17 and A-18?")
