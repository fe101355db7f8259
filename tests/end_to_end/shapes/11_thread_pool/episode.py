# Threads ask in no particular order: rules answer them.
CONCURRENT = True
REPLIES = [
    {"when": {"messages": "'role': 'tool'"}, "content": "There is enough."},
    *[
        {
            "when": {"messages": f"more of: {part}"},
            "tool_calls": [{"name": "stock", "arguments": {"part": part}}],
        }
        for part in ("bolt", "nut")
    ],
]


def episode() -> str:
    from agent import answer

    return answer("Check bolt and nut.")
