REPLIES = [
    {
        "content": "Let me look.",
        "tool_calls": [
            {"name": "next_train", "arguments": {"to": "Ulm"}},
            {"name": "next_train", "arguments": {"to": "Bonn"}},
        ],
    },
    {"tool_calls": [{"name": "next_train", "arguments": {"to": "Hof"}}]},
    {"content": "Ulm at 08:12, Bonn at 09:40, none to Hof."},
]


async def episode() -> str | None:
    from agent import answer

    return await answer("When do trains go to Ulm, Bonn and Hof?")
