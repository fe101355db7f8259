REPLIES = [
    *[
        {"tool_calls": [{"name": "go", "arguments": {"direction": direction}}]}
        for direction in ("north", "east", "south", "west")
    ],
    {"content": "The gold is in the west."},
]


def episode() -> str:
    from agent import explore

    return explore("Find the gold.")
