REPLIES = [
    {
        "content": "I look it up.",
        "tool_calls": [
            {"name": "shelf", "arguments": {"title": "Emma"}},
            {"name": "shelf", "arguments": {"title": "Ulysses"}},
        ],
    },
    {"tool_calls": [{"name": "shelf", "arguments": {"title": "Dune"}}]},
    {"content": "Emma is in B2, Ulysses in C7, Dune is sold out."},
]


def episode() -> str:
    from agent import ask

    return ask("Where are Emma, Ulysses and Dune?")
