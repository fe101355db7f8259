USD = {"amount": 20, "source": "EUR", "target": "USD"}
JPY = {"amount": 20, "source": "EUR", "target": "JPY"}
REPLIES = [
    {"tool_calls": [{"name": "convert", "arguments": USD}]},
    {"tool_calls": [{"name": "convert", "arguments": JPY}]},
    {"content": "22 dollars, or 3200 yen."},
]


def episode() -> str:
    from agent import run

    return run("What are 20 euros in dollars and in yen?")
